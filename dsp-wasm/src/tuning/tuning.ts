/** The constants of the core's tuning, and cores in which they have other values. */
export { type Constant, halfAndTwice, readConstants } from './constants.js';
export { compileTunable, TunableCore } from './tunable.js';
