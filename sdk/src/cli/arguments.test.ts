import { expect } from 'chai';
import { Arguments, UsageError } from './arguments.js';

const NOW = Date.parse('2026-03-01T10:00:00Z');
const instant = (text: string) =>
  new Arguments(['--since', text], { since: { type: 'string' } }).instant('since', NOW)?.toISOString();

describe('the arguments of a command', () => {
  it('may have an age or a date as an instant', () => {
    expect(instant('90s')).to.equal('2026-03-01T09:58:30.000Z');
    expect(instant('7d')).to.equal('2026-02-22T10:00:00.000Z');
    expect(instant('2026-02-01')).to.equal('2026-02-01T00:00:00.000Z');
    expect(instant('2026-02-01T01:00+01:00')).to.equal('2026-02-01T00:00:00.000Z');
  });

  it('are refused with what to write if an instant is none, or has no year of four digits', () => {
    for (const text of [
      '',
      '5',
      'May 5',
      'yesterday',
      '2026-02-01T25:00Z',
      '2026-01-31junk',
      '99999999d',
      '999999999w',
      '+275760-01-01T00:00:00Z',
    ])
      expect(() => instant(text), text).to.throw(UsageError, `such as 90s, 15m, 1h or 7d; it is "${text}"`);
  });

  it('are refused if the day of an instant does not exist', () => {
    for (const day of ['2026-02-30', '2026-02-29', '2026-04-31', '2026-13-01', '2026-00-10']) {
      expect(() => instant(day), day).to.throw(UsageError, `--since is "${day}", and there is no day ${day}`);
      expect(() => instant(`${day}T08:00:00+01:00`), day).to.throw(UsageError, `there is no day ${day}`);
    }
    expect(instant('2028-02-29T08:00:00Z')).to.equal('2028-02-29T08:00:00.000Z');
  });
});
