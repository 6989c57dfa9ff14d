export type { DeviceModelDraft, ModalityChannel } from './device-model.js';
export type { Episode, Faults } from './faults.js';
export type { Frame, FrameSource } from './frame.js';
export { encodeFrame } from './frame-encoder.js';
export { type Simulator, type SimulatorOptions, simulate } from './simulator.js';
