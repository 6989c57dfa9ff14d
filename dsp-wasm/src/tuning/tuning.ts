/** The constants of the core's tuning and its tables of weights, and cores in which they have other values. */
export { type Constant, readConstants } from './constants.js';
export { compileTunable, TunableCore } from './tunable.js';
export { compileWeighed, readTables, type Table, WeighedCore } from './weights.js';
