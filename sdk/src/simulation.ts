export { type PlaybackOptions, play } from './recording/playback.js';
export type { CourseSpec } from './simulator/course.js';
export { FAULT_FORMS, parseFaults } from './simulator/fault-text.js';
export type { Episode, Faults } from './simulator/faults.js';
export { type Simulator, type SimulatorOptions, simulate } from './simulator/simulator.js';
