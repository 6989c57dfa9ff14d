import type { NoticeCode, Reason, TO_DEVICE } from '@device-insights/contract/ingest';
import type { Clock } from '@device-insights/fanout/platform/clock';
import type { z } from 'zod';
import type { NoReading } from '../analysis/no-reading.js';
import type { InsightType } from '../insight.js';
import type { DiagnosedNotice } from '../store/store.js';

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
  readonly notice: DiagnosedNotice;
  /** Time of the last sending, by the monotonic clock, ms; -Infinity for one of a former owner of the session. */
  readonly at: number;
}

/** Maximum number of characters that are kept of a detail. */
export const MAX_DETAIL = 300;
/** Minimum time between two notices of the same code and channel, ms. */
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

/**
 * The notices of one session: each is said again while its cause lasts, at most every 10 s, and once when it is over. What
 * was said is kept for the diagnostics.
 */
export class Notices {
  readonly #said = new Map<string, Said>();
  #noReadings: readonly NoReading[] = [];

  /**
   * @param say sends a notice
   * @param earlier those that a former owner of the session has kept
   */
  constructor(
    readonly clock: Pick<Clock, 'now' | 'monotonic'>,
    readonly say: (notice: Notice) => void,
    earlier: readonly DiagnosedNotice[] = [],
  ) {
    for (const notice of earlier)
      this.#said.set(keyOf(notice.code, notice.channel, notice.insight), { notice, at: Number.NEGATIVE_INFINITY });
  }

  /** All notices so far, those of former owners of the session too. */
  get all(): DiagnosedNotice[] {
    return [...this.#said.values()].map(({ notice }) => notice);
  }

  /** The types of which it was said that they have no trusted reading. */
  get noReadings(): readonly NoReading[] {
    return this.#noReadings;
  }

  /** Reports the types that have no trusted reading now; call again with the same list, because some may have to wait. */
  tellNoReadings(now: readonly NoReading[]): void {
    const before = this.#noReadings;
    if (now === before) return;
    for (const { insight } of before)
      if (!now.some((each) => each.insight === insight)) this.clear('no_reading', null, insight);
    const said = now.flatMap((each) => {
      const known = before.find(({ insight }) => insight === each.insight);
      const isSaid = known?.reason === each.reason || this.raise('no_reading', null, noReadingFields(each));
      return isSaid ? each : (known ?? []);
    });
    this.#noReadings = now.every((each) => said.includes(each)) ? now : said;
  }

  /** Reports that the cause of a notice is present, or, without fields, absent. */
  tell(code: NoticeCode, channel: number | null, fields: NoticeFields | null): void {
    if (fields) this.raise(code, channel, fields);
    else this.clear(code, channel);
  }

  /** Reports that the cause of a notice is present; returns whether it was said now. */
  raise(code: NoticeCode, channel: number | null, fields: NoticeFields): boolean {
    const key = keyOf(code, channel, fields.insight);
    const now = this.clock.monotonic();
    const said = this.#said.get(key);
    if (said && now - said.at < EVERY_MS) return false;
    const lastAt = this.clock.now();
    const { insight, reason } = fields;
    const detail = fields.detail.slice(0, MAX_DETAIL);
    const { firstAt, count } = said?.notice ?? { firstAt: lastAt, count: 0 };
    const ofType = insight && { insight, reason: String(reason) };
    const notice = { code, channel, firstAt, lastAt, count: count + 1, detail, isOver: false, ...ofType };
    this.#said.set(key, { notice, at: now });
    this.say({ code, ...(channel !== null && { channel }), ...fields });
    return true;
  }

  /** Reports that the cause of a notice is absent. */
  clear(code: NoticeCode, channel: number | null, insight?: InsightType): void {
    if (this.#said.size === 0) return; // Most devices have none.
    const key = keyOf(code, channel, insight);
    const said = this.#said.get(key);
    if (!said || said.notice.isOver || said.at === Number.NEGATIVE_INFINITY) return;
    this.#said.set(key, { ...said, notice: { ...said.notice, isOver: true } });
    const about = { ...(channel !== null && { channel }), ...(insight && { insight }) };
    this.say({ code, ...about, detail: OVER[code], over: true });
  }
}

/** What `channel_late` says: windows pass without the data of a channel, because they come behind those of others. */
export const LATE: NoticeFields = {
  detail:
    'its data arrive more than 2 s after those of another channel, too late for the windows that need them: send the channels interleaved, in order of time',
};

/** What `ts_unsteady` says. */
export const UNSTEADY: NoticeFields = {
  detail:
    'ts steps ahead and back by more than 0.25 s against seq, or hardly advances: send the time of measurement in ms, with a resolution finer than 0.25 s, or no ts',
};

/** What `order_wrong` says. */
export const DISORDERED: NoticeFields = {
  detail:
    'the signal jumps between frames, but would be continuous in another order: send the samples of a frame oldest first, and the frames in the order of measurement; if values also jump within frames, check their width and sign',
};

/** What `ts_back` says of stamps that went back by so much, ms. */
export function wentBack(ms: number): NoticeFields {
  const detail = `ts goes back by ${(ms / 1000).toFixed(1)} s, as if the clock was set or its counter wrapped: data time does not, and goes on from the frame before. For data of another time, open another session`;
  return { detail, back_ms: Math.round(ms) };
}

/** What `rate_off` says of a rate relative to the declared one. */
export function rateOff(declared_hz: number, relativeRate: number): NoticeFields {
  const measured_hz = Number((declared_hz * relativeRate).toFixed(2));
  const detail = `the data arrive at ${measured_hz} Hz, but the device model says ${declared_hz} Hz: correct its sample_rate_hz, or check ts and seq, which must skip lost samples (for stored data without ts, this is the rate at which they are sent: send ts)`;
  return { detail, measured_hz, declared_hz };
}

/** What `not_analysed` says, with the modalities that the account's algorithms use. */
export function notAnalysed(modalities: readonly string[]): string {
  if (modalities.length === 0)
    return 'the account is not entitled to any algorithm: the data are accepted but not used';
  return `no algorithm of the account uses these channels, so the data are not used; the modalities in use are ${modalities.join(', ')}`;
}

/** What a notice is about: each has its own. */
function keyOf(code: string, channel: number | null, insight = ''): string {
  return `${code}/${channel}/${insight}`;
}

/** What each reason means, and what to do about it. */
const DETAILS: Readonly<Record<Reason, string>> = {
  no_data: 'a required channel has no data: check that the device sends its frames',
  gaps: 'more than half of the data are missing or null, or the reading follows the rhythm of the gaps: check the connection and the sequence numbers',
  no_contact:
    'the sensor has no contact: check that it is worn and its LED is on, or that the electrodes are attached, and that the samples have all their bits',
  saturated: 'the samples are clipped at an end of their range: reduce the light or the gain',
  bad_scale:
    'the samples do not fit the bit_depth of the channel, or jump between its ends: check their width, byte order and sign',
  no_dc:
    'the DC component of the light is missing or negative: send the light as measured, before any high-pass filter',
  implausible_ratio:
    'the ratio of red and infrared is outside the curve: check that the two channels are not swapped, and spo2_calibration',
  hum: 'a sinusoid masks the signal, such as mains hum or a lamp: check the electrodes, or shield the light',
  motion: 'motion disturbs the light: wait for rest, or fasten the sensor',
  rate_off:
    'the sample rate differs from sample_rate_hz, is too low for this type or not known yet, or the times or the order of the samples are wrong: see the other notices, or check ts and seq',
  uncalibrated:
    'below 90 % the default curve is too uncertain: set spo2_calibration in the device model, and check that red and infrared are not swapped, and that the samples have all their bits',
  out_of_range: 'the value is outside the range of its type',
  too_little: 'the data since the start, or since the last gap, are shorter than half a window: keep sending',
  noise:
    'no pulse, beat or breath stands out from noise, or from what may be a movement: check the fit of the sensor, and the width and order of the samples, and send an accelerometer with light',
};

/** The fields of the notice that there is no trusted reading of a type. */
export function noReadingFields({ insight, reason, algorithm, seen }: NoReading): NoticeFields {
  const detail = `no trusted ${insight}: ${DETAILS[reason]}`;
  return { insight, reason, algorithm, ...seen, detail };
}
