import { createCore } from '@device-insights/dsp-wasm';
import { type Constant, readConstants } from '@device-insights/dsp-wasm/tuning';
import { expect } from 'chai';
import { analyse } from '../analyse.js';
import { recordingOf } from '../motion-bench/bench.js';
import { effects, type Part, type Row, readRows, SEARCHED, valuesOf, verdictOf } from './constants.js';
import { play, record } from './tape.js';

const HZ = 50;
const SECONDS = 30;
const pulse = Float64Array.from({ length: SECONDS * HZ }, (_, i) => {
  const phase = 2 * Math.PI * 1.2 * (i / HZ);
  return 10_000 + 100 * Math.sin(phase) + 40 * Math.sin(2 * phase);
});
const SIGNAL = {
  ...{ set: 'made', people: [], curve: null },
  source: recordingOf('made-1', 'A pulse of 72 bpm', { ppg_green: [pulse] }, HZ),
  reference: {
    ...{ id: 'made-1', seconds: SECONDS, types: ['hr'] as const },
    windows: Array.from({ length: 12 }, (_, i) => ({ end: 8 + 2 * i, values: { hr: 72 } })),
  },
};

const row = (value: number, change: number, error: number): Row => {
  const difference = [change, error] as const;
  const parts: Record<Part, readonly [number, number]> = {
    ...{ all: difference, a: difference, b: difference, recordings: difference, made: difference },
  };
  return { constant: 'room GAIN', value, loss: 1 + change, differences: parts };
};

describe('the search over constants', () => {
  it('plays to a core what the pipeline asked of it, and gets the same readings', async () => {
    const tape = await record(SIGNAL, await createCore({ maxSessions: 1 }));
    const played = play(tape, await createCore({ maxSessions: 1 }), new Set(['hr_ppg'] as const));
    const answers = await analyse(SIGNAL.source, null);
    expect(played).to.have.length(12);
    for (const [i, { reading }] of played.entries()) {
      const answer = answers.find(({ type, actual_end }) => type === 'hr' && actual_end === 1000 * (8 + 2 * i));
      expect(reading?.value).to.be.closeTo(answer?.value ?? 0, 0.0501);
      expect(reading?.confidence).to.be.closeTo(answer?.confidence ?? 0, 0.000501);
    }
  });

  it('tries values about the committed one that it can have', () => {
    const of = (value: number, unit: string, type: Constant['type'] = 'f32') =>
      valuesOf({ folder: 'room', name: 'A', type, value, what: 'A.', unit, origin: 'chosen', source: '' });
    expect(of(8, 'bpm')).to.deep.equal([4, 16, 6.4, 10]);
    expect(of(-2, 'log odds')).to.deep.equal([-1, -4, -1.6, -2.5]);
    expect(of(0.8, 'share')).to.deep.equal([0.6, 0.9, 0.75, 0.84]);
    expect(of(3, 'beats', 'i32')).to.deep.equal([2, 6, 4]);
  });

  it('calls a value fitted if no other one is clearly better and one is clearly worse', () => {
    const own = row(1, 0, 0);
    expect(verdictOf([own, row(0.5, 0.3, 0.1), row(2, -0.1, 0.1)])).to.equal('fitted');
    expect(verdictOf([own, row(0.5, 0.3, 0.1), row(2, -0.3, 0.1)])).to.equal('worse');
    expect(verdictOf([own, row(0.5, 0, 0), row(2, 0.1, 0.1)])).to.equal('idle');
  });

  it('says of each chosen constant how the loss changes at other values: bold if it is clearly greater, in italics if it is less', () => {
    const rows = [row(1, 0, 0), row(0.5, 0.3, 0.1), row(2, -0.3, 0.1), row(0.8, 0.1, 0.1), row(1.25, 0, 0)];
    const gain: Constant = {
      ...{ folder: 'room', name: 'GAIN', type: 'f32', value: 1, what: 'A gain. It is large.', unit: 'ratio' },
      ...{ origin: 'chosen', source: '' },
    };
    const last = (constants: readonly Constant[]) => effects(constants, rows).get('room')?.split('\n').at(-1);
    expect(last([gain])).to.equal('| GAIN | 1 | A gain | 0.5: **+0.3**, 2: *-0.3*, 0.8: +0.1, 1.25: = |');
    expect(last([{ ...gain, value: 3 }])).to.equal('None is chosen.');
  });

  const rows = readRows();
  for (const { folder, name, value, source } of readConstants().filter((one) => one.source.startsWith(SEARCHED))) {
    it(`finds that of the values in its table that of ${folder} ${name} has the least loss, within the spread over people`, () => {
      const own = rows.filter(({ constant }) => constant === `${folder} ${name}`);
      expect(own[0]?.value, 'npm run fit -- --constants writes the row of the committed value').to.equal(value);
      expect(verdictOf(own)).to.equal('fitted');
      const isOnBenchAlone = own.every(({ differences: { recordings } }) => recordings[0] === 0);
      expect(source.endsWith('on benches')).to.equal(isOnBenchAlone);
    });
  }
});
