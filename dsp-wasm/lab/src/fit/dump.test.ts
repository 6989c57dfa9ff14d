import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCore, FEATURES } from '@device-insights/dsp-wasm';
import { expect } from 'chai';
import { recordingOf } from '../motion-bench/bench.js';
import { dump } from './dump.js';
import type { Signal } from './signals.js';

const HZ = 50;
const SECONDS = 40;
const wave = (perMinute: number, size: number, level: number) =>
  Float64Array.from(
    { length: SECONDS * HZ },
    (_, i) => level + size * Math.sin((2 * Math.PI * perMinute * i) / HZ / 60),
  );

/** A pulse of 90 bpm on an arm that swings; the reference of the last window is wrong by 7, of the first by 20. */
const SIGNAL: Signal = {
  set: 'made',
  people: ['ann-1', 'ben-2'],
  source: recordingOf(
    'made-1',
    'A pulse in motion',
    { ppg_green: [wave(90, 10, 1000)], accel: [wave(66, 0.3, 1)] },
    HZ,
  ),
  reference: {
    ...{ id: 'made-1', seconds: SECONDS, types: ['hr'] },
    windows: [110, 90, 83].map((hr, i) => ({ end: 20 + 8 * i, values: { hr } })),
  },
  curve: null,
};

describe('the features that the fit reads', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dump-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('are those of each reading with a reference, with its grade: in tolerance, out of it, or wrong', async () => {
    const opened: (readonly string[])[] = [];
    const signals = async function* () {
      yield SIGNAL;
    };
    const counts = await dump(signals(), folder, ['hr_ppg_motion', 'rr_ecg'], (people) => {
      opened.push(people);
      return createCore({ maxSessions: 1 });
    });
    expect(opened).to.deep.equal([SIGNAL.people]);
    expect(counts.get('hr_ppg_motion')).to.equal(3);
    const [head = '', ...lines] = readFileSync(join(folder, 'hr_ppg_motion.csv'), 'utf8').trim().split('\n');
    const names = head.split(',');
    expect(names.slice(-FEATURES.hr_ppg_motion.length)).to.deep.equal(FEATURES.hr_ppg_motion);
    const column = (name: string) => lines.map((line) => line.split(',')[names.indexOf(name)]);
    expect(column('people')).to.deep.equal(Array(3).fill('ann-1+ben-2'));
    expect(column('end')).to.deep.equal(['20', '28', '36']);
    expect(column('grade')).to.deep.equal(['2', '0', '1']);
    expect(
      column('+seen_apart')
        .map(Number)
        .every((apart) => apart > 0.5 && apart <= 1),
    ).to.equal(true);
  });
});
