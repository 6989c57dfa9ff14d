import type { NoticeCode, TO_DEVICE } from '@device-insights/contract/ingest';
import type { z } from 'zod';
import type { InsightType } from '../insight.js';

type Known = Readonly<z.infer<z.ZodObject<(typeof TO_DEVICE.notice)['shape']>>>;

/** The fields of a notice besides its code and channel; `detail` says how to correct the problem. */
export interface NoticeFields extends Omit<Known, 'type' | 'code' | 'channel' | 'over'> {
  readonly [field: string]: unknown;
}

/** A notice as it is sent, without its `type`. Without a channel it is about the whole session. */
export interface Notice extends Omit<Known, 'type'> {
  readonly [field: string]: unknown;
}

interface Said {
  /** Time of the last sending, by the monotonic clock, ms. */
  readonly at: number;
  isOver: boolean;
}

/** Shortest time between two notices of the same code and channel, ms. */
const EVERY_MS = 10_000;
const OVER: Readonly<Record<NoticeCode, string>> = {
  rate_off: 'the rate matches the device model again',
  ts_unsteady: 'the stamps are steady again',
  ts_back: 'ts increases again',
  order_wrong: 'the samples are in the order of measurement again',
  channel_late: 'the channel is no longer late',
  all_duplicates: 'new sequence numbers arrive again',
  all_lost: 'the sequence numbers are consecutive again',
  frames_overlap: 'the frames are consecutive again',
  not_analysed: 'the channels are analysed now',
  already_stored: 'the data are new again',
  device_id_twice: 'connections with this device id no longer close each other',
  no_reading: 'there is a trusted reading again',
};

/** The notices of one session: each is repeated while its cause lasts, at most every 10 s, and once when it is over. */
export class Notices {
  readonly #said = new Map<string, Said>();

  /** @param say sends a notice */
  constructor(
    readonly clock: { monotonic(): number },
    readonly say: (notice: Notice) => void,
  ) {}

  /** Reports that the cause of a notice is present; returns whether it was said now. */
  raise(code: NoticeCode, channel: number | null, fields: NoticeFields): boolean {
    const key = keyOf(code, channel, fields.insight);
    const now = this.clock.monotonic();
    const said = this.#said.get(key);
    if (said && now - said.at < EVERY_MS) return false;
    this.#said.set(key, { at: now, isOver: false });
    this.say({ code, ...(channel !== null && { channel }), ...fields });
    return true;
  }

  /** Reports that the cause of a notice is absent. */
  clear(code: NoticeCode, channel: number | null, insight?: InsightType): void {
    const said = this.#said.get(keyOf(code, channel, insight));
    if (!said || said.isOver) return;
    said.isOver = true;
    const about = { ...(channel !== null && { channel }), ...(insight && { insight }) };
    this.say({ code, ...about, detail: OVER[code], over: true });
  }
}

const LATE: NoticeFields = {
  detail:
    'its data arrive more than 2 s after those of another channel, too late for the windows that need them: send the channels interleaved, in order of time',
};

/** Reports whether windows pass without the data of a channel, because they come behind those of others. */
export function noticeLate(notices: Notices, channel: number, isLate: boolean): void {
  if (isLate) notices.raise('channel_late', channel, LATE);
  else notices.clear('channel_late', channel);
}

/** What `not_analysed` says, with the modalities that the account's algorithms use. */
export function notAnalysed(modalities: readonly string[]): string {
  if (modalities.length === 0)
    return 'the account is not entitled to any algorithm: the data are accepted but not used';
  return `no algorithm of the account uses these channels, so the data are not used; the modalities in use are ${modalities.join(', ')}`;
}

/** What a notice is about: each has its own. */
export function keyOf(code: string, channel: number | null, insight?: string): string {
  return [code, channel, ...(insight ? [insight] : [])].join('/');
}
