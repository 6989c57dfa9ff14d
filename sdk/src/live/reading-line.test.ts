import { expect } from 'chai';
import type { LiveInsight } from './insight.js';
import { readingLine } from './reading-line.js';

const READING: LiveInsight = {
  type: 'hr',
  value: 72,
  unit: 'bpm',
  ts: 1763600000123,
  session_id: 's',
  device_id: 'band-1',
  confidence: 0.93,
  sqi_class: 'excellent',
};

describe('the line of a reading', () => {
  it('has time, device, type, value, unit, confidence and class, aligned', () => {
    expect(readingLine(READING)).to.equal('2025-11-20T00:53:20.123Z  band-1  hr     72.0 bpm   0.930  excellent');
    expect(
      readingLine({ ...READING, type: 'spo2', value: 100, unit: '%', confidence: 0.5, sqi_class: 'acceptable' }),
    ).to.equal('2025-11-20T00:53:20.123Z  band-1  spo2  100.0 %     0.500  acceptable');
  });

  it('labels unfit readings as estimates', () => {
    expect(readingLine({ ...READING, confidence: 0.1, sqi_class: 'unfit' })).to.match(/unfit \(estimating\)$/);
  });
});
