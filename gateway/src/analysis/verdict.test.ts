import { REASONS, type Reason } from '@device-insights/contract/ingest';
import { expect } from 'chai';
import { reasonOf, type WindowFacts } from './verdict.js';

/** A full window in which nothing but the pulse is missing. */
const FULL: WindowFacts = {
  hasData: true,
  coverage: 1,
  isOfGaps: false,
  core: 'noise',
  value: null,
  isRateOff: false,
  newest: 1,
};

/** For each reason, what makes it. */
const SEEN: Record<Reason, Partial<WindowFacts>> = {
  no_data: { hasData: false },
  gaps: { coverage: 0.4 },
  no_contact: { core: 'no_contact' },
  saturated: { core: 'saturated' },
  bad_scale: { core: 'bad_scale' },
  no_dc: { core: 'no_dc' },
  implausible_ratio: { core: null, value: 'implausible_ratio' },
  hum: { core: 'hum' },
  motion: { core: 'motion' },
  rate_off: { isRateOff: true },
  uncalibrated: { core: null, value: 'uncalibrated' },
  out_of_range: { value: 'out_of_range' },
  too_little: { newest: 0.4 },
  noise: {},
};

describe('the reason why there is no reading', () => {
  for (const reason of REASONS)
    it(`is ${reason} if that is what the data show`, () => {
      expect(reasonOf({ ...FULL, ...SEEN[reason] })).to.equal(reason);
    });

  it('is gaps for a reading with the rhythm of the gaps', () => {
    expect(reasonOf({ ...FULL, core: null, isOfGaps: true })).to.equal('gaps');
  });

  it('is the first that applies, whatever applies besides', () => {
    const all = { hasData: false, coverage: 0, isRateOff: true, newest: 0, value: 'implausible_ratio' } as const;
    expect(reasonOf({ ...FULL, ...all })).to.equal('no_data');
    expect(reasonOf({ ...FULL, ...all, hasData: true })).to.equal('gaps');
    expect(reasonOf({ ...FULL, ...all, hasData: true, coverage: 1 })).to.equal('implausible_ratio');
    expect(reasonOf({ ...FULL, ...all, hasData: true, coverage: 1, core: 'no_contact' })).to.equal('no_contact');
    expect(reasonOf({ ...FULL, isRateOff: true, newest: 0 })).to.equal('rate_off');
    expect(reasonOf({ ...FULL, core: 'motion', isRateOff: true })).to.equal('motion');
  });

  it('is noise if nothing else is seen', () => {
    expect(reasonOf({ ...FULL, core: null })).to.equal('noise');
  });
});
