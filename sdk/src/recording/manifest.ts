import { isAbsolute, normalize } from 'node:path';
import type { DeviceModelDraft } from '../device/frame.js';
import type { NewModalityChannel, Spo2Calibration } from '../generated/types.gen.js';
import { DEVICE_ID, DEVICE_ID_MUST } from '../options.js';

/** The samples of one channel: a CSV file beside the manifest. */
export interface RecordingStream {
  /** Index of the channel in the device model. */
  readonly channel: number;
  /** Name of the CSV file, relative to the manifest's folder, which it may not leave. */
  readonly file: string;
  /** Names of the CSV's columns, one for each sub-channel, in their order. */
  readonly columns: readonly string[];
}

/** A recording's `ID.json`, checked (RECORDINGS.md). */
export interface RecordingManifest {
  /** Names the recording, and the device that streams it. */
  readonly id: string;
  /** The device model of the recording. */
  readonly deviceModel: DeviceModelDraft;
  /** The channels' files. */
  readonly streams: readonly RecordingStream[];
  /** Length in seconds, if given. */
  readonly durationS: number | null;
}

/** A recording that cannot be read; the message names the file, the place and the expected form. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}

/**
 * Checks the text of a recording's manifest. Fields that are not named in RECORDINGS.md are ignored.
 *
 * @param file name of the file, for messages
 * @throws RecordingError
 */
export function parseManifest(text: string, file: string): RecordingManifest {
  const fields = new Fields(parseJson(text, file), file);
  const model = fields.object('device_model');
  const channels = model.list('modality_channels').map(parseChannel);
  const calibration = model.has('spo2_calibration') ? parseCalibration(model.object('spo2_calibration')) : null;
  const streams = fields.list('streams').map(parseStream);
  checkStreams(streams, channels, file);
  return {
    id: fields.text('id', DEVICE_ID, DEVICE_ID_MUST),
    deviceModel: {
      name: model.text('name', /^.{1,200}$/u, 'a text of 1 to 200 characters'),
      description: model.optionalText('description'),
      firmware_version: model.optionalText('firmware_version'),
      modality_channels: channels,
      ...(calibration && { spo2_calibration: calibration }),
    },
    streams,
    durationS: fields.optionalNumber('duration_s'),
  };
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, '')); // a byte order mark
  } catch (cause) {
    throw new RecordingError(
      `${file}: not JSON (${cause instanceof Error ? cause.message : cause}); see RECORDINGS.md for the format`,
      { cause },
    );
  }
}

function parseChannel(fields: Fields): NewModalityChannel {
  return {
    modality: fields.text('modality', /^[a-z0-9_]{1,64}$/, '1 to 64 of a-z 0-9 _'),
    sample_rate_hz: fields.number('sample_rate_hz', 0.1, 10_000),
    bit_depth: fields.integer('bit_depth', 1, 32),
    num_channels: fields.integer('num_channels', 1, 64),
  };
}

function parseCalibration(fields: Fields): Spo2Calibration {
  const [a, b] = [fields.number('a', -1000, 1000), fields.number('b', -1000, 1000)];
  return fields.has('c') ? { a, b, c: fields.number('c', -1000, 1000) } : { a, b };
}

function parseStream(fields: Fields): RecordingStream {
  return {
    channel: fields.integer('channel', 0, 255),
    file: fields.file('file'),
    columns: fields.texts('columns'),
  };
}

function checkStreams(
  streams: readonly RecordingStream[],
  channels: readonly NewModalityChannel[],
  file: string,
): void {
  if (streams.length === 0) throw new RecordingError(`${file}: streams is empty; name at least one CSV file`);
  const seen = new Set<number>();
  for (const { channel, columns } of streams) {
    const model = channels[channel];
    if (!model)
      throw new RecordingError(
        `${file}: a stream has channel ${channel}, but device_model.modality_channels has ${channels.length}`,
      );
    if (seen.has(channel))
      throw new RecordingError(`${file}: two streams have channel ${channel}; a channel has only one file`);
    if (columns.length !== model.num_channels)
      throw new RecordingError(
        `${file}: the stream of channel ${channel} names ${columns.length} columns, but its num_channels is ${model.num_channels}`,
      );
    seen.add(channel);
  }
}

/** A JSON object whose fields are read with their type, or refused by name. */
class Fields {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(
    value: unknown,
    private readonly place: string,
  ) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new RecordingError(`${place}: must be a JSON object; see RECORDINGS.md`);
    this.#fields = value as Record<string, unknown>;
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined && this.#fields[name] !== null;
  }

  object(name: string): Fields {
    return new Fields(this.#fields[name], `${this.place}: ${name}`);
  }

  list(name: string): Fields[] {
    const value = this.#fields[name];
    if (!Array.isArray(value)) throw this.#fault(name, 'an array');
    return value.map((item, index) => new Fields(item, `${this.place}: ${name}[${index}]`));
  }

  text(name: string, pattern: RegExp, wanted: string): string {
    const value = this.#fields[name];
    if (typeof value !== 'string' || !pattern.test(value)) throw this.#fault(name, wanted);
    return value;
  }

  /** A file in the manifest's folder or below it. */
  file(name: string): string {
    const wanted = "the name of a CSV file in the manifest's folder";
    const file = this.text(name, /^.+$/, wanted);
    if (isAbsolute(file) || /^\.\.([/\\]|$)/.test(normalize(file))) throw this.#fault(name, wanted);
    return file;
  }

  texts(name: string): string[] {
    const value = this.#fields[name];
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string'))
      throw this.#fault(name, 'an array of column names');
    return value;
  }

  optionalText(name: string): string {
    return !this.has(name) ? '' : this.text(name, /^/, 'a text');
  }

  number(name: string, low: number, high: number): number {
    const value = this.#fields[name];
    if (typeof value !== 'number' || !(value >= low && value <= high))
      throw this.#fault(name, `a number from ${low} to ${high}`);
    return value;
  }

  integer(name: string, low: number, high: number): number {
    const value = this.number(name, low, high);
    if (!Number.isInteger(value)) throw this.#fault(name, `a whole number from ${low} to ${high}`);
    return value;
  }

  optionalNumber(name: string): number | null {
    return !this.has(name) ? null : this.number(name, 0, Number.MAX_VALUE);
  }

  #fault(name: string, wanted: string): RecordingError {
    return new RecordingError(
      `${this.place}: ${name} is ${JSON.stringify(this.#fields[name]) ?? 'missing'}; it must be ${wanted}`,
    );
  }
}
