import { createMemoryBus } from './memory.js';
import { busSuite } from './suite.js';

busSuite('in process', () => {
  const bus = createMemoryBus();
  return { open: async () => bus };
});
