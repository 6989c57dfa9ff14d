import { type Core, type CoreSession, createCore, type Estimator } from '../src/core.js';
import { best, cpuSeconds } from './clock.js';
import { CHANNELS, type Kind, payloads, pushSecond } from './load.js';

const EVERY_SECOND: readonly Estimator[] = ['hr_ppg', 'hr_ecg', 'spo2'];
const WITH_RR: readonly Estimator[] = [...EVERY_SECOND, 'rr_ppg', 'rr_ecg'];
/** Seconds of data before the measurement, so that every estimator gives estimates. */
const FILL_SECONDS = 20;
const WARM_SECONDS = 4;

interface SessionCost {
  /** Microseconds of processor time for a second of one session's data. */
  readonly us: number;
  readonly bytesPerSession: number;
}

/**
 * Cost of a whole session, pushes and all estimators, among `count` sessions: the fastest two consecutive seconds of
 * `seconds` (rr is estimated every other second). The calls are those of the service: a session's data, then each of its
 * estimates alone.
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
  const due = second % 2 === 1 ? WITH_RR : EVERY_SECOND;
  for (const session of sessions) {
    pushSecond(session, second, data);
    for (const estimator of due) core.step([{ session, estimator, end: second + 1 }]);
  }
}
