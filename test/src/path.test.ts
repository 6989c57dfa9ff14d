import { wholePath } from './path.fixture.js';

wholePath('embedded', () => ({}));
