import type { StreamingRow } from '../../src/dashboard/rows.js';
import { count } from './format.js';
import { TYPE_NAMES, type Type } from './readings.js';

/** Reasons why there is no trusted reading (ingest protocol, section 3), short enough for a tile. */
const REASONS: Readonly<Record<string, string>> = {
  no_data: 'no data',
  gaps: 'gaps in the data',
  no_contact: 'no contact',
  saturated: 'saturated',
  bad_scale: 'wrong bit depth',
  no_dc: 'no DC level',
  implausible_ratio: 'bad red/IR ratio',
  hum: 'mains hum',
  motion: 'motion',
  rate_off: 'sample rate off',
  uncalibrated: 'not calibrated',
  out_of_range: 'out of range',
  too_little: 'too little data',
  noise: 'noise',
};

/** Causes of refused frames (ingest protocol, section 3). */
const REFUSED: Readonly<Record<string, string>> = {
  bad_json: 'text that is not JSON',
  bad_message: 'JSON that is not a message of the protocol',
  bad_version: 'an unknown version of the binary format',
  bad_encoding: 'an unknown encoding',
  bad_frame: 'an invalid binary header',
  bad_length: 'samples that do not make up whole instants',
  bad_value: 'a number out of range',
  unknown_channel: 'a channel that the model does not have',
  too_late: 'sequence numbers that had already been given up as lost',
  in_future: 'times more than a minute in the future: connect with the clock parameter',
  too_fast: 'stored data without ts: send ts with them',
};

/** The name of a notice or, of `no_reading`, of its reason. */
export function noticeWord({ code, reason }: { readonly code: string; readonly reason?: string }): string {
  return REASONS[reason ?? ''] ?? (reason ?? code).replaceAll('_', ' ');
}

/** The cause of refused frames in words. */
export function refusedWords(code: string): string {
  return REFUSED[code] ?? code.replaceAll('_', ' ');
}

/** A text, and the longer one that explains it. */
export interface Said {
  readonly text: string;
  readonly detail: string;
}

/** The reasons for missing readings that a tile can show. */
export interface Lack {
  /** Of each type, why it has no trusted reading. */
  readonly types: ReadonlyMap<Type, Said>;
  /** Why the device may have no readings at all: the cause of most refused frames, or else a notice. */
  readonly all: Said | null;
}

export const NO_LACK: Lack = { types: new Map(), all: null };

export function lackOf({ notices, refused }: StreamingRow): Lack {
  const types = TYPE_NAMES.flatMap((type) => {
    const notice = notices.find(({ code, insight }) => code === 'no_reading' && insight === type);
    return notice ? [[type, { text: noticeWord(notice), detail: notice.detail }] as const] : [];
  });
  const most = refused.toSorted((a, b) => b.count - a.count)[0];
  const other = notices.filter(({ code }) => code !== 'no_reading').at(-1);
  const all = most ? refusal(most) : other ? { text: other.detail, detail: other.detail } : null;
  return { types: new Map(types), all };
}

function refusal({ code, count: n, detail }: StreamingRow['refused'][number]): Said {
  return { text: `${count(n)} ${n === 1 ? 'frame' : 'frames'} refused: ${refusedWords(code)}`, detail };
}
