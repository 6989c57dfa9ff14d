import type { Core, CoreChannel, CoreReason, CoreSession, Encoding, Estimator } from '@device-insights/dsp-wasm';
import { eachAnswer } from '@device-insights/dsp-wasm/fit';
import { ALGORITHMS, type InsightType } from '@device-insights/gateway/offline';
import { analyse, firstInstant } from '../analyse.js';
import { scoreWindows } from '../score.js';
import type { Signal } from './signals.js';

/** Longest beginning of a recording that is used, s. */
const MOST_S = 300;

/**
 * What the session pipeline asks of the core at the beginning of a recording, before its first loss of a minute. Played to another core it gives the
 * readings of that one in a small part of the time: nothing is read, framed and put in order again. What is asked depends on no answer.
 */
export interface Tape {
  readonly set: string;
  /** Whose signals they are; the recording, if nobody's. */
  readonly person: string;
  readonly curve: readonly number[] | null;
  readonly channels: readonly CoreChannel[];
  readonly calls: readonly Call[];
  /** The windows that have a reference and enough data, by type and end. */
  readonly windows: ReadonlyMap<string, TapeWindow>;
}

export interface TapeWindow {
  readonly type: InsightType;
  readonly reference: number;
  /** Factor of the confidence: less than one if the times or the gaps of the window are not trusted. */
  readonly factor: number;
  /** The reason that a reading of it has which is not trusted, where that is known. */
  readonly reason?: CoreReason;
}

/** A reading of a window; null if there is none. */
export interface Played extends TapeWindow {
  readonly reading: { readonly value: number; readonly confidence: number } | null;
  /** Why it is not trusted. */
  readonly given: CoreReason | null;
}

export type Call =
  | { readonly run: Parameters<CoreSession['push']>; readonly estimator?: undefined }
  | { readonly run?: undefined; readonly estimator: Estimator; readonly end: number };

/** What the pipeline is told while it is recorded: surely a rate that no gaps have, or the ratio of 95 %. */
const told = (estimator: Estimator) => ({ value: estimator === 'spo2' ? 0.6 : 71.3, confidence: 1 });
const DOUBTFUL = 0.49;

const typeOf = (estimator: Estimator) => estimator.split('_', 1)[0] as InsightType;
const keyOf = (type: InsightType, end: number) => `${type} ${end}`;

/** Records a signal. @param core one of one session */
export async function record({ set, people, source, reference, curve }: Signal, core: Core): Promise<Tape> {
  const calls: Call[] = [];
  const asked = new Set<string>();
  let [channels, isOver]: [readonly CoreChannel[], boolean] = [[], false];
  const recorder = eachAnswer(core, ({ estimator, end }) => {
    if (!isOver) calls.push({ estimator, end });
    if (!isOver) asked.add(keyOf(typeOf(estimator), end));
    return { estimate: { ...told(estimator), variability: null }, reason: null, seen: 0 };
  });
  const open = (wanted: readonly CoreChannel[]): CoreSession | null => {
    const session = core.open(wanted);
    if (!session) return null;
    isOver = channels.length > 0;
    if (!isOver) channels = wanted;
    session.push = (channel, t, period, encoding: Encoding, payload) => {
      isOver ||= t > MOST_S;
      if (!isOver) calls.push({ run: [channel, t, period, encoding, payload.slice()] });
      return 0;
    };
    return session;
  };
  const answers = await analyse(source, curve, Object.assign(recorder, { open }));
  const start = await firstInstant(source);
  const windows = new Map<string, TapeWindow>();
  for (const { type, reference: truth, answer } of scoreWindows(reference, answers)) {
    const key = answer && keyOf(type, Math.round((answer.actual_end - start) / 1000));
    const factor = answer && answer.confidence < 0.5 ? DOUBTFUL : 1;
    if (key && asked.has(key)) windows.set(key, { type, reference: truth, factor });
  }
  return { set, person: people.join('+') || reference.id, curve, channels, calls, windows };
}

/** The readings of a tape's windows by a core of one session, of those types that the estimators have. */
export function play(
  { channels, calls, windows, curve }: Tape,
  core: Core,
  estimators: ReadonlySet<Estimator>,
): Played[] {
  const played = new Map<string, Played>();
  for (const { estimator, ...call } of calls) {
    if (!estimator || !('end' in call) || !estimators.has(estimator)) continue;
    const key = keyOf(typeOf(estimator), call.end);
    const window = windows.get(key);
    if (window) played.set(key, { ...window, reading: null, given: null });
  }
  if (played.size === 0) return [];
  const session = core.open(channels);
  if (!session) throw new Error('the core has no room for a session');
  for (const { run, ...request } of calls) {
    if (run) session.push(...run);
    else if (request.estimator && estimators.has(request.estimator)) {
      const { estimator, end } = request;
      const [answer] = core.answer([{ session, estimator, end }]);
      const key = keyOf(typeOf(estimator), end);
      const before = played.get(key);
      if (!answer || !before) continue;
      const { estimate, reason: given } = answer;
      if (!before.reading) played.set(key, { ...before, given });
      if (!estimate) continue;
      const { value, confidence } = readOf(estimator)(estimate, { spo2Curve: curve });
      if (confidence * before.factor > (before.reading?.confidence ?? 0))
        played.set(key, { ...before, reading: { value, confidence: confidence * before.factor }, given });
    }
  }
  session.close();
  return [...played.values()];
}

function readOf(estimator: Estimator) {
  const algorithm = ALGORITHMS.find((one) => one.estimator === estimator);
  if (!algorithm) throw new Error(`no algorithm reads ${estimator}`);
  return algorithm.read;
}
