import type { Reason } from '@device-insights/contract/ingest';
import { expect } from 'chai';
import { NoReadingWatch, type Verdict } from './no-reading.js';

const verdict = (reason: Reason, confidence = 0.1, algorithm = 'one'): Verdict => ({
  reason,
  confidence,
  algorithm,
  seen: { confidence },
});
const TRUSTED = null;

describe('the watch over missing readings of a type', () => {
  /** The reasons stated after each second, from 1 on. */
  function stated(watch: NoReadingWatch, verdicts: readonly (Verdict | null)[], from = 0): (Reason | null)[] {
    return verdicts.map((each, i) => {
      watch.note(0, from + i + 1, [each]);
      return watch.stated?.reason ?? null;
    });
  }

  it('states the reason after 20 s without a trusted reading, 60 s without a respiratory rate, and 90 s without hrv or rhythm', () => {
    const reasons = stated(new NoReadingWatch('hr'), Array(20).fill(verdict('hum')));
    expect(reasons.slice(18)).to.deep.equal([null, 'hum']);
    const rr = stated(new NoReadingWatch('rr'), Array(60).fill(verdict('noise')));
    expect(rr.slice(58)).to.deep.equal([null, 'noise']);
    for (const type of ['hrv', 'rhythm'] as const)
      expect(stated(new NoReadingWatch(type), Array(90).fill(verdict('motion'))).slice(88)).to.deep.equal([
        null,
        'motion',
      ]);
  });

  it('counts from the newest trusted reading, and has none to state when there is one again', () => {
    const watch = new NoReadingWatch('hr');
    stated(watch, [...Array(15).fill(verdict('noise')), TRUSTED]);
    expect(stated(watch, Array(19).fill(verdict('noise')), 16)).to.deep.equal(Array(19).fill(null));
    expect(stated(watch, [verdict('noise')], 35)).to.deep.equal(['noise']);
    expect(watch.stated).to.include({ insight: 'hr', algorithm: 'one' });
    expect(stated(watch, [TRUSTED], 36)).to.deep.equal([null]);
  });

  it('counts from the first data of the session here', () => {
    const watch = new NoReadingWatch('hr');
    watch.note(1000, 1001, [verdict('noise')]);
    expect(watch.stated).to.equal(null);
  });

  it('does not flap between reasons that alternate, and follows one that stays', () => {
    const watch = new NoReadingWatch('hr');
    const turns = Array.from({ length: 120 }, (_, i) => verdict(i % 2 ? 'noise' : 'hum'));
    expect(new Set(stated(watch, turns).slice(19))).to.have.property('size', 1);
    const after = stated(watch, Array(30).fill(verdict('no_contact')), 120);
    expect(after.at(-1)).to.equal('no_contact');
    expect(new Set(after)).to.have.property('size', 2);
  });

  it('states another reason after 10 s at the earliest', () => {
    const watch = new NoReadingWatch('hr');
    stated(watch, [...Array(11).fill(verdict('noise')), ...Array(9).fill(verdict('hum'))]);
    const reasons = stated(watch, Array(12).fill(verdict('motion')), 20);
    expect(reasons.slice(0, 9).every((reason) => reason === reasons[0])).to.equal(true);
  });

  it('reports the algorithm that came closest: by its confidence, or else by the later reason', () => {
    const watch = new NoReadingWatch('hr');
    for (let end = 1; end <= 30; end++) {
      watch.note(0, end, [verdict('hum', 0.1, 'one'), verdict('no_contact', 0.3, 'two')]);
    }
    expect(watch.stated).to.include({ reason: 'no_contact', algorithm: 'two' });
    const even = new NoReadingWatch('hr');
    for (let end = 1; end <= 30; end++) {
      even.note(0, end, [verdict('noise', 0, 'one'), verdict('no_data', 0, 'two')]);
    }
    expect(even.stated).to.include({ reason: 'noise', algorithm: 'one' });
  });

  it('has nothing to state while one of two algorithms gives trusted readings', () => {
    const watch = new NoReadingWatch('hr');
    for (let end = 1; end <= 60; end++) {
      watch.note(0, end, [verdict('hum', 0.1, 'one'), TRUSTED]);
      expect(watch.stated).to.equal(null);
    }
  });

  it('states at the end of a short session why it never had a trusted reading', () => {
    const watch = new NoReadingWatch('hr');
    stated(watch, [verdict('motion'), verdict('motion')]);
    watch.end(verdict('too_little'));
    expect(watch.stated).to.include({ reason: 'motion' });
    const empty = new NoReadingWatch('spo2');
    empty.end(verdict('no_data'));
    expect(empty.stated).to.include({ reason: 'no_data' });
    const good = new NoReadingWatch('hr');
    stated(good, [TRUSTED, verdict('noise')]);
    good.end(verdict('too_little'));
    expect(good.stated).to.equal(null);
    const tooShort = new NoReadingWatch('hrv');
    tooShort.end(verdict('too_little'));
    expect(tooShort.stated, 'hrv needs a minute').to.equal(null);
  });
});
