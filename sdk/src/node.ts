export { readingLine } from './live/reading-line.js';
export { RecordingError, type RecordingManifest, type RecordingStream } from './recording/manifest.js';
export { type CsvChannel, type CsvDescription, readCsv, TIME_UNITS, type TimeUnit } from './recording/plain-csv.js';
export { type PlaybackOptions, play } from './recording/playback.js';
export { type Recording, readRecording } from './recording/recording.js';
