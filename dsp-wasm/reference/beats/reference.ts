export { sampleEntropy } from './entropy.js';
export { corrected, type Variability, variabilityOf } from './variability.js';
