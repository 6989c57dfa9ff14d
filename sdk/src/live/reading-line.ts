import type { LiveInsight } from './insight.js';

/**
 * A live insight as one line for people: time, device, type, value, unit, confidence and class. An `unfit` one is
 * labelled as an estimate.
 */
export function readingLine({ ts, device_id, type, value, unit, confidence, sqi_class }: LiveInsight): string {
  const time = new Date(ts).toISOString();
  const estimating = sqi_class === 'unfit' ? ' (estimating)' : '';
  const reading = `${type.padEnd(4)} ${value.toFixed(1).padStart(6)} ${unit.padEnd(4)}`;
  return `${time}  ${device_id}  ${reading}  ${confidence.toFixed(3)}  ${sqi_class}${estimating}`;
}
