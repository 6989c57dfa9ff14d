import { expect } from 'chai';
import { instantOf } from './instant.js';

const AT = Date.UTC(2026, 0, 31, 8, 0, 0);

describe('instants', () => {
  it('are RFC 3339 times', () => {
    const same = ['2026-01-31T08:00:00Z', '2026-01-31T08:00Z', '2026-01-31T08:00:00.000Z', '2026-01-31t08:00:00z'];
    const shifted = ['2026-01-31T09:00:00+01:00', '2026-01-31T02:30-05:30', '2026-01-31T08:00:00-00:00'];
    for (const text of [...same, ...shifted]) expect(instantOf(text), text).to.equal(AT);
    expect(instantOf('2026-01-31T08:00:00.5Z')).to.equal(AT + 500);
    expect(instantOf('2024-02-29T00:00:00Z')).to.equal(Date.UTC(2024, 1, 29));
    expect(instantOf('0001-01-01T00:00:00Z')).to.equal(Date.parse('0001-01-01T00:00:00Z'));
  });

  it('may have a plus sign that became a space in a query', () => {
    expect(instantOf('2026-01-31T09:00:00 01:00')).to.equal(AT);
  });

  it('are rounded up to whole milliseconds', () => {
    expect(instantOf('2026-01-31T08:00:00.0005Z')).to.equal(AT + 1);
    expect(instantOf('2026-01-31T08:00:00.123000Z')).to.equal(AT + 123);
    expect(instantOf('2026-01-31T08:00:00.99999999999999999999Z')).to.equal(AT + 1000);
    expect(instantOf('1969-12-31T23:59:59.9991Z')).to.equal(0);
  });

  it('may be leap seconds', () => {
    expect(instantOf('2016-12-31T23:59:60Z')).to.equal(Date.UTC(2017, 0, 1));
    expect(instantOf('2016-12-31T23:59:60.5Z')).to.equal(Date.UTC(2017, 0, 1) + 500);
  });

  it('are in no other format', () => {
    const days = [
      '2026-01-31',
      '2026-02-30T00:00:00Z',
      '2025-02-29T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '20260131T080000Z',
    ];
    const times = ['2026-01-31T24:00:00Z', '2026-01-31T08:60:00Z', '2026-01-31T08Z', '2026-01-31T08:00:61Z', 'T08:00Z'];
    const zones = ['2026-01-31T08:00:00', '2026-01-31T08:00+01', '2026-01-31T08:00+0100', '2026-01-31T08:00+24:00'];
    const other = ['', 'now', '1763600000000', '2026-01-31 08:00:00Z', ' 2026-01-31T08:00Z', '2026-01-31T08:00:00.Z'];
    for (const text of [...days, ...times, ...zones, ...other, '+002026-01-31T08:00:00Z', '2026-01-31T08:00Z\n']) {
      expect(instantOf(text), text).to.equal(null);
    }
  });
});
