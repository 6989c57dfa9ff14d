export { type Recording, readRecording } from './recording.js';
export { RecordingError, type RecordingManifest, type RecordingStream } from './recording-manifest.js';
