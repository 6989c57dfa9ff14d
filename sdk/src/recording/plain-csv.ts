import { basename, dirname, extname } from 'node:path';
import { readHeader, type TimeColumn } from './csv.js';
import { RecordingError, type RecordingManifest, type RecordingStream } from './manifest.js';
import { type Recording, recordingOf } from './recording.js';

/** A channel of a CSV file. */
export interface CsvChannel {
  /** Its modality, such as `ppg_green`. */
  readonly modality: string;
  /** Names of its columns. Default: the column with the modality's name, or the only one besides the time. */
  readonly columns?: readonly string[];
}

/** A CSV file without a manifest, described by the caller. */
export interface CsvDescription {
  /** Sample rate of all columns, Hz. */
  readonly sampleRateHz: number;
  /** The channels, in the order of their indexes. */
  readonly channels: readonly CsvChannel[];
  /** Name of the column with the time of each row; without it, `t` if there is one, otherwise rows are evenly spaced. */
  readonly timeColumn?: string;
  /** Unit of the time column. Default `s`. */
  readonly timeUnit?: TimeUnit;
}

/** Units of a time column, in seconds. */
export const TIME_UNITS = { s: 1, ms: 1e-3, us: 1e-6 } as const;
/** The unit of a time column: seconds, milliseconds or microseconds. */
export type TimeUnit = keyof typeof TIME_UNITS;

/** Samples of a plain CSV may be as wide as the service accepts. */
const BIT_DEPTH = 32;

/**
 * Opens a CSV file as a recording. Its name, without the extension, is the recording's id.
 *
 * @throws RecordingError for a missing file or column, here or while iterating
 */
export async function readCsv(path: string, description: CsvDescription): Promise<Recording> {
  const { sampleRateHz: sample_rate_hz, channels, timeUnit = 's' } = description;
  const names = await readHeader(path);
  const timeColumn = description.timeColumn ?? (names.includes('t') ? 't' : null);
  const time: TimeColumn = {
    name: timeColumn,
    seconds: timeColumn === null ? 1 / sample_rate_hz : TIME_UNITS[timeUnit],
  };
  const others = names.filter((name) => name !== timeColumn);
  const streams = channels.map(({ modality, columns }, channel): RecordingStream => {
    return { channel, file: basename(path), columns: columns ?? [defaultColumn(modality, others, path)] };
  });
  const modality_channels = channels.map(({ modality }, i) => ({
    modality,
    sample_rate_hz,
    bit_depth: BIT_DEPTH,
    num_channels: streams[i]?.columns.length ?? 1,
  }));
  const id = basename(path, extname(path)).replace(/[^A-Za-z0-9._:-]/g, '-') || '-';
  const deviceModel = { name: id, description: '', firmware_version: '', modality_channels };
  const manifest: RecordingManifest = { id: id.slice(0, 128), deviceModel, streams, durationS: null };
  return recordingOf(manifest, dirname(path), time);
}

function defaultColumn(modality: string, names: readonly string[], path: string): string {
  const [only, ...more] = names.includes(modality) ? [modality] : names;
  if (only === undefined || more.length > 0)
    throw new RecordingError(
      `${path}:1: which column holds ${modality}? Name one of ${JSON.stringify(names.slice(0, 20))}`,
    );
  return only;
}
