export { sampleEntropy } from './beats/entropy.js';
export { corrected, type Variability, variabilityOf } from './beats/variability.js';
export { fft } from './math/spectrum.js';
