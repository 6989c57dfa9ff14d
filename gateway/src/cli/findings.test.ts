import { expect } from 'chai';
import { Findings, findingLine } from './findings.js';

describe('findings', () => {
  it('keep the place where a problem starts, and its newest detail', () => {
    const findings = new Findings();
    findings.add({ code: 'rate_off', channel: 0, detail: '80 Hz' }, { row: 500, t: 5 }, 5000);
    findings.add({ code: 'rate_off', channel: 1, detail: '25 Hz' }, { row: 600, t: 6 }, 6000);
    findings.add({ code: 'rate_off', channel: 0, detail: '98 Hz' }, { row: 1500, t: 15 }, 15_000);
    expect(findings.all).to.deep.equal([
      { code: 'rate_off', channel: 0, detail: '98 Hz', row: 500, t: 5, count: 2 },
      { code: 'rate_off', channel: 1, detail: '25 Hz', row: 600, t: 6, count: 1 },
    ]);
  });

  it('begin again once a problem is over, or has not been stated for 20 s', () => {
    const findings = new Findings();
    const problem = { code: 'no_reading', insight: 'hr', detail: 'noise' };
    findings.add(problem, { row: 2, t: 0 }, 0);
    findings.add({ ...problem, over: true }, { row: 3, t: 1 }, 1000);
    findings.add(problem, { row: 4, t: 2 }, 2000);
    findings.add({ ...problem, insight: 'rr' }, { row: 5, t: 3 }, 3000);
    findings.add(problem, { row: 6, t: 23 }, 23_000);
    expect(findings.all.map(({ row, insight }) => [row, insight])).to.deep.equal([
      [2, 'hr'],
      [4, 'hr'],
      [5, 'rr'],
      [6, 'hr'],
    ]);
  });

  it('are printed one a line, with their position as far as it is known', () => {
    const finding = { code: 'ts_back', channel: 1, detail: 't goes back', row: 7, t: 0.5, count: 3 };
    expect(findingLine(finding)).to.equal('ts_back (channel 1, row 7, t = 0.5 s): t goes back [3 times]');
    expect(findingLine({ code: 'not_analysed', detail: 'unknown', row: null, t: null, count: 1 })).to.equal(
      'not_analysed: unknown',
    );
  });
});
