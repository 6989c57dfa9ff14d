import { expect } from 'chai';
import { analyse } from '../analyse.js';
import { scoreWindows } from '../score.js';
import { type BenchRecording, motionBench } from './bench.js';
import { KINDS, make } from './kinds.js';
import { lossBench, scoreLosses } from './loss.js';
import { Draws } from './random.js';
import { HZ, lines, moving, type Signal } from './signal.js';
import type { Source } from './source.js';

const SECONDS = 150;

const wave = (value: (t: number) => number): Signal =>
  Float64Array.from({ length: SECONDS * HZ }, (_, i) => value(i / HZ));
const turn = (hz: number, t: number) => Math.sin(2 * Math.PI * hz * t);

/** A runner at 150 steps a minute from second `from` to `to`, at rest before and after. */
function runner(id: string, bpm: number, from = 30, to = 120): Source {
  const runs = (t: number) => (t > from && t < to ? 1 : 0.01);
  return {
    id,
    axes: [
      wave((t) => runs(t) * turn(2.5, t)),
      wave((t) => runs(t) * 0.3 * turn(1.25, t)),
      wave((t) => 1 + runs(t) * 0.1 * turn(2.5, t + 0.2)),
    ],
    artefacts: [wave((t) => runs(t) * turn(2.5, t)), wave((t) => runs(t) * turn(2.5, t + 0.1))],
    rate: wave((t) => bpm + t / 10),
  };
}

const SOURCES = [runner('run-1', 90), runner('run-2', 120)];
const RUNNING = [runner('run-3', 95, 0, SECONDS), runner('run-4', 120, 0, SECONDS)];

const readings = async ({ source, reference }: BenchRecording) => scoreWindows(reference, await analyse(source, null));

describe('the bench of motion', () => {
  it('makes a recording of each kind from each source', () => {
    const made = [...motionBench(SOURCES, 1)].map(({ kind, people }) => `${kind} ${people}`);
    expect(made).to.deep.equal(KINDS.flatMap((kind) => [`${kind} run-1,run-2`, `${kind} run-2,run-1`]));
  });

  it('generates the same recordings for the same seed, and others for another seed', () => {
    const [first] = motionBench(SOURCES, 1);
    const [again] = motionBench(SOURCES, 1);
    const [other] = motionBench(SOURCES, 2);
    const samples = (one: BenchRecording | undefined) => [...((one?.source.frames() ?? []) as Iterable<unknown>)];
    expect(samples(first)).to.deep.equal(samples(again));
    expect(samples(first)).to.not.deep.equal(samples(other));
  });

  it('knows the rate of its pulse: at rest the core finds it within 3 bpm', async () => {
    for (const made of motionBench(SOURCES, 1)) {
      if (made.kind !== 'plain') continue;
      const calm = (await readings(made)).slice(0, 11);
      for (const { reference, answer } of calm) expect(answer?.value).to.be.closeTo(reference, 3);
    }
  });

  it('shows that no rate is trusted 10 s after the pulse is lost, or without any pulse', async () => {
    const all = [];
    for (const { what, goneAt, recording } of lossBench(RUNNING, 1)) {
      const answers = await analyse(recording, null);
      all.push({ what, goneAt, answers: answers.filter(({ type }) => type === 'hr') });
    }
    for (const row of scoreLosses(all)) {
      if (!String(row.what).startsWith('never')) expect(row['trusted before %'], `${row.what}`).to.be.above(60);
      expect(row['trusted after 10 s %'] ?? 0, `${row.what}`).to.equal(0);
    }
  });

  it('makes the steps the strongest line in most windows of the kind strong', () => {
    const [source, other] = SOURCES as [Source, Source];
    for (const seed of [1, 2, 3]) {
      const { lights, axes, rate } = make('strong', new Draws(seed), source, other);
      const active = moving(axes);
      const found = lines([lights[0] as Signal]).filter((_, i) => active[i]);
      const steps = found.filter(({ perMinute }) => Math.abs(perMinute - 150) < 4);
      expect(steps.length, 'windows whose strongest line is the steps').to.be.above(0.6 * found.length);
      expect(rate.length).to.equal(source.rate.length);
    }
  });

  it('keeps the pulse near the cadence for a while where they cross', () => {
    const [source, other] = SOURCES as [Source, Source];
    const { rate } = make('cross', new Draws(5), source, other);
    const beside = rate.filter((bpm) => Math.abs(bpm - 150) < 16).length / rate.length;
    expect(beside).to.be.above(0.05);
  });

  it('begins a cold start in motion, and leaves at least 90 s', () => {
    const [source, other] = SOURCES as [Source, Source];
    const cold = [1, 2, 3, 4, 5, 6].map((seed) => make('cold', new Draws(seed), source, other));
    expect(cold.some(({ axes }) => moving(axes)[0])).to.equal(true);
    for (const { rate } of cold) expect(rate.length).to.be.at.least(90 * HZ);
  });
});
