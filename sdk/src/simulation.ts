export type { CourseSpec } from './course.js';
export { FAULT_FORMS, parseFaults } from './fault-text.js';
export type { Episode, Faults } from './faults.js';
export { type PlaybackOptions, play } from './playback.js';
export { type Simulator, type SimulatorOptions, simulate } from './simulator.js';
