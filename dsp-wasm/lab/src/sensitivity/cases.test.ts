import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Case, groupsOf, readCases } from './cases.js';

const WHOLE = { index: 0, count: 1 };

describe('the signals that constants are tried on', () => {
  let folder = '';

  /** Writes a recording of one channel at 1 Hz, with a reference every 20 s. */
  function record(id: string, modality: string, type: string, seconds: number): void {
    const rows = Array.from({ length: seconds }, (_, t) => `${t},${t % 2}`);
    writeFileSync(join(folder, `${id}.csv`), ['t,x', ...rows].join('\n'));
    const ends = Array.from({ length: Math.floor(seconds / 20) }, (_, i) => 20 * (i + 1));
    writeFileSync(
      join(folder, `${id}.ref.csv`),
      [`t_start,t_end,${type}`, ...ends.map((t) => `${t - 8},${t},60`)].join('\n'),
    );
    const channel = { modality, sample_rate_hz: 1, bit_depth: 32, num_channels: 1 };
    const manifest = {
      ...{ id, duration_s: seconds, reference: `${id}.ref.csv`, reference_types: [type] },
      device_model: { name: id, description: '', firmware_version: '1', modality_channels: [channel] },
      streams: [{ channel: 0, file: `${id}.csv`, columns: ['x'] }],
    };
    writeFileSync(join(folder, `${id}.json`), JSON.stringify(manifest));
  }

  const ids = (cases: readonly Case[]) => cases.map(({ source }) => source.id);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sensitivity-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('are the beginnings of recordings, chosen evenly if a set has too many', async () => {
    for (let i = 1; i <= 8; i++) record(`long-${i}`, 'ppg_green', 'hr', 300);
    for (let i = 1; i <= 3; i++) record(`short-${i}`, 'ppg_green', 'hr', 60);
    const cases = await readCases(folder, false, 1200, WHOLE);
    expect(ids(cases)).to.deep.equal(['long-1', 'long-3', 'long-5', 'long-7', 'short-1', 'short-2', 'short-3']);
    expect(cases[0]?.reference.windows.at(-1)?.end).to.equal(240);
    let samples = 0;
    for await (const frame of cases[0]?.source.frames() ?? []) samples += frame.samples.length;
    expect(samples).to.equal(240);
  });

  it('are shared among workers, each case by one', async () => {
    for (let i = 1; i <= 3; i++) record(`short-${i}`, 'ppg_green', 'hr', 60);
    expect(ids(await readCases(folder, false, 1200, { index: 0, count: 2 }))).to.deep.equal(['short-1', 'short-3']);
    expect(ids(await readCases(folder, false, 1200, { index: 1, count: 2 }))).to.deep.equal(['short-2']);
  });

  it('count to the group of their reading and its signal, on which a folder is scored', async () => {
    record('a', 'ecg', 'rr', 60);
    record('b', 'resp', 'rr', 60);
    const [ecg, effort] = await readCases(folder, false, 1200, WHOLE);
    expect(groupsOf('breath')).to.include(ecg?.groupOf('rr')).and.to.include(effort?.groupOf('rr'));
    expect(groupsOf('ecg')).to.include(ecg?.groupOf('rr')).and.not.to.include(effort?.groupOf('rr'));
    expect(groupsOf('grid')).to.include(ecg?.groupOf('rr')).and.to.include(effort?.groupOf('rr'));
  });
});
