import { type Core, type CoreSession, createCore, type Estimator } from '../src/core.js';
import { best, cpuSeconds } from './clock.js';
import { CHANNELS, type Kind, payloads, pushSecond } from './load.js';

const EVERY_SECOND: readonly Estimator[] = ['hr_ppg', 'hr_ecg', 'spo2'];
const EVERY_OTHER: readonly Estimator[] = ['rr_ppg', 'rr_ecg'];
/** Data before the measurement: long enough for every estimator to answer. */
const FILL_SECONDS = 20;
const WARM_SECONDS = 4;

export interface SessionCost {
  /** Microseconds of processor time for a second of one session's data. */
  readonly us: number;
  readonly bytesPerSession: number;
}

/**
 * Cost of a whole session, pushes and all estimators, among `count` of them: the best two neighbouring seconds (rr comes
 * every other one) of `seconds`.
 */
export async function sessionCost(count: number, kind: Kind, seconds: number): Promise<SessionCost> {
  const core = await createCore({ maxSessions: count });
  const sessions = Array.from({ length: count }, () => core.open(CHANNELS)).filter((s) => s !== null);
  const data = payloads(kind);
  let second = 0;
  for (; second < FILL_SECONDS; second++) for (const s of sessions) pushSecond(s, second, data);
  for (; second < FILL_SECONDS + WARM_SECONDS; second++) runSecond(core, sessions, second, data);
  const us = best(seconds / 2, () => {
    const start = cpuSeconds();
    for (let i = 0; i < 2; i++) runSecond(core, sessions, second++, data);
    return ((cpuSeconds() - start) * 1e6) / (2 * count);
  });
  return { us, bytesPerSession: core.bytesPerSession };
}

function runSecond(core: Core, sessions: readonly CoreSession[], second: number, data: readonly Uint8Array[][]): void {
  for (const s of sessions) pushSecond(s, second, data);
  const due = second % 2 === 1 ? [...EVERY_SECOND, ...EVERY_OTHER] : EVERY_SECOND;
  for (const estimator of due) core.step(sessions.map((session) => ({ session, estimator, end: second + 1 })));
}

/** Bytes that a push leaves on the JavaScript heap. */
export async function pushAllocation(): Promise<number> {
  const session = (await createCore({ maxSessions: 1 })).open(CHANNELS);
  if (session === null) return Number.NaN;
  const data = payloads('normal');
  const rounds = 400;
  for (let s = 0; s < rounds; s++) pushSecond(session, s, data);
  const before = process.memoryUsage().heapUsed;
  for (let s = rounds; s < 2 * rounds; s++) pushSecond(session, s, data);
  return Math.max(0, process.memoryUsage().heapUsed - before) / (rounds * CHANNELS.length);
}
