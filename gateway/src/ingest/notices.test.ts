import { REASONS, type Reason } from '@device-insights/contract/ingest';
import { ManualClock } from '@device-insights/fanout/platform/manual-clock.fixture';
import { expect } from 'chai';
import type { NoReading } from '../analysis/no-reading.js';
import type { InsightType } from '../insight.js';
import { type Notice, Notices, noReadingFields } from './notices.js';

const none = (insight: InsightType, reason: Reason): NoReading => ({
  insight,
  reason,
  algorithm: 'hr-ecg',
  seen: { share: 0.99 },
});

describe('notices of missing readings', () => {
  let clock: ManualClock;
  let said: Notice[];
  let notices: Notices;

  beforeEach(() => {
    clock = new ManualClock(0);
    said = [];
    notices = new Notices(clock, (notice) => said.push(notice));
  });

  it('say type, reason, algorithm and what was seen, and what to do', () => {
    const now = [none('hr', 'hum')];
    notices.tellNoReadings(now);
    expect(notices.noReadings).to.equal(now);
    const [notice] = said;
    expect(notice).to.include({ code: 'no_reading', insight: 'hr', reason: 'hum', algorithm: 'hr-ecg', share: 0.99 });
    expect(notice?.detail).to.match(/^no trusted hr: .*check the electrodes/);
    for (const reason of REASONS)
      expect(noReadingFields(none('rr', reason)).detail).to.match(/^no trusted rr: \w.{20}/);
  });

  it('are those of each type by itself, said once each, and over once', () => {
    const both = [none('hr', 'hum'), none('rr', 'noise')];
    for (let i = 0; i < 2; i++) notices.tellNoReadings(both);
    expect(said.map(({ insight }) => insight)).to.deep.equal(['hr', 'rr']);
    for (let i = 0; i < 2; i++) notices.tellNoReadings([none('rr', 'noise')]);
    expect(said.slice(2)).to.deep.equal([
      { code: 'no_reading', insight: 'hr', detail: 'there is a trusted reading again', over: true },
    ]);
  });

  it('say another reason 10 s after the last one at the earliest, and do not forget it', () => {
    notices.tellNoReadings([none('hr', 'hum')]);
    const now = [none('hr', 'no_contact')];
    clock.advance(9000);
    notices.tellNoReadings(now);
    expect(notices.noReadings.map(({ reason }) => reason)).to.deep.equal(['hum']);
    expect(said).to.have.length(1);
    clock.advance(1000);
    notices.tellNoReadings(now);
    expect(notices.noReadings).to.equal(now);
    expect(said.map(({ reason }) => reason)).to.deep.equal(['hum', 'no_contact']);
  });
});
