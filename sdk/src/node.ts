export { type PlaybackOptions, play } from './playback.js';
export { readingLine } from './reading-line.js';
export { type Recording, readRecording } from './recording.js';
export { RecordingError, type RecordingManifest, type RecordingStream } from './recording-manifest.js';
