import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readBeats, readReference } from './reference.js';
import { type Answer, type Row, scoreLeftOut, scoreSets, scoreTypes, scoreWindows } from './score.js';

const WINDOWS = 't_start,t_end,hr,spo2,rr\n0,8,70,,14\n2,10,72,,\n4,12,74,,15\n6,14,76,,16\n';
const SHORT_WINDOWS = 't_start,t_end,hr,spo2,rr\n0,8,90,,\n';

const answer = (type: Answer['type'], value: number, confidence: number, end: number): Answer => {
  return { type, value, confidence, actual_end: end * 1000 };
};

const ANSWERS: Readonly<Record<string, readonly Answer[]>> = {
  'wrist-01': [
    answer('hr', 71, 0.9, 7.5),
    answer('hr', 69, 0.8, 8.5),
    answer('hr', 84, 0.62, 10.2),
    answer('hr', 80, 0.3, 12.9),
    answer('hr', 76, 1, 15.1),
    answer('rr', 14, 0.7, 8),
    answer('rr', 22, 0.55, 12),
  ],
  'wrist-02': [answer('hr', 91, 0.5, 9.9)],
  'wrist-01-ecg': [answer('hr', 70, 1, 8), answer('hr', 72, 1, 10), answer('hr', 74, 1, 12)],
};

describe('the score of readings', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'score-'));
    const put = (file: string, text: string) => writeFileSync(join(folder, file), text);
    const manifest = (id: string, duration_s: number, reference: string, ...reference_types: string[]) =>
      put(`${id}.json`, JSON.stringify({ id, duration_s, reference, reference_types }));
    put('wrist-01.ref.csv', WINDOWS);
    put('wrist-02.ref.csv', SHORT_WINDOWS);
    put('wrist-01.beats.csv', 't\n0.5\n1.25\n');
    manifest('nstdb-7', 60, 'wrist-01.ref.csv', 'rr');
    manifest('wrist-01-ecg', 60, 'wrist-01.ref.csv', 'hr');
    manifest('wrist-01', 60, 'wrist-01.ref.csv', 'hr', 'rr');
    manifest('wrist-02', 9, 'wrist-02.ref.csv', 'hr');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const windows = () =>
    ['nstdb-7', 'wrist-01-ecg', 'wrist-01', 'wrist-02'].flatMap((id) =>
      scoreWindows(readReference(folder, `${id}.json`), ANSWERS[id] ?? []),
    );

  const row = (what: string, ...cells: (number | null)[]): Row => {
    const names = ['windows', 'answered %', 'MAE', 'RMSE', 'trusted %', 'MAE trusted', 'in tolerance % (trusted)'];
    const columns = [...names, 'wrong but trusted %', 'calibration error'];
    return { what, ...Object.fromEntries(columns.map((name, i) => [name, cells[i] ?? null])) };
  };

  it('has one row for each set and type', () => {
    expect(scoreSets(windows())).to.deep.equal([
      row('nstdb-7 rr', 3, 0, null, null, 0, null, null, 0, null),
      row('wrist-ecg hr', 4, 75, 0, 0, 75, 0, 100, 0, 0),
      row('wrist hr', 5, 80, 5, 6.75, 60, 4.67, 66.7, 20, 0.405),
      row('wrist rr', 3, 66.7, 3.5, 4.95, 66.7, 3.5, 50, 33.33, 0.425),
    ]);
  });

  it('has one row for each type over all sets', () => {
    expect(scoreTypes(windows())).to.deep.equal([
      row('all rr', 6, 33.3, 3.5, 4.95, 33.3, 3.5, 50, 16.67, 0.425),
      row('all hr', 9, 77.8, 2.86, 5.1, 66.7, 2.33, 83.3, 11.11, 0.231),
    ]);
  });

  it('uses the reading that ends nearest to the window, and the later one of two equally near', () => {
    const [first] = scoreWindows(readReference(folder, 'wrist-01.json'), ANSWERS['wrist-01'] ?? []);
    expect(first?.answer?.value).to.equal(69);
  });

  it('allows SpO2 an error of 3 %, and of 4 % below 90 %', () => {
    const window = (reference: number, error: number) => ({
      set: 'finger',
      person: 'finger-1',
      type: 'spo2' as const,
      reference,
      answer: answer('spo2', reference + error, 0.9, 8),
    });
    const [row] = scoreTypes([window(95, 3), window(95, -3.5), window(89, -3.5), window(80, 4), window(80, 4.5)]);
    expect(row?.['in tolerance % (trusted)']).to.equal(60);
    expect(scoreTypes([window(95, 7), window(85, 7)])[0]?.['wrong but trusted %']).to.equal(50);
  });

  it('shows people left out beside in-sample figures, with intervals over the people if there are several', () => {
    const of = (person: string, error: number) => ({
      ...{ set: 'wrist', person, type: 'hr' as const, reference: 70, answer: answer('hr', 70 + error, 0.9, 8) },
    });
    const [two] = scoreLeftOut([of('a', 1), of('b', 2)], [of('a', 0), of('b', 1)]);
    expect(two).to.include({ what: 'wrist hr', people: 2, windows: 2, MAE: '1.5 (1 to 2)', 'MAE in sample': 0.5 });
    const [one] = scoreLeftOut([of('a', 1)], [of('a', 0)]);
    expect(one).to.include({ people: 1, MAE: 1, 'trusted %': 100, 'trusted % in sample': 100 });
  });

  it('leaves a window unanswered if no reading ends within 1 s, or 2 s in a short recording', () => {
    const far = [answer('hr', 90, 1, 9.5)];
    expect(scoreWindows(readReference(folder, 'wrist-02.json'), far)[0]?.answer).to.not.equal(null);
    expect(scoreWindows({ ...readReference(folder, 'wrist-02.json'), seconds: 10 }, far)[0]?.answer).to.equal(null);
  });

  it('is empty for a recording without a reference', () => {
    writeFileSync(join(folder, 'plain.json'), '{"id":"plain","duration_s":10}');
    expect(scoreWindows(readReference(folder, 'plain.json'), [answer('hr', 60, 1, 8)])).to.deep.equal([]);
    expect(readBeats(folder, 'plain')).to.equal(null);
    expect(readBeats(folder, 'wrist-01')).to.deep.equal([0.5, 1.25]);
  });

  it('refuses a reference that is not a table of numbers, naming the file', () => {
    writeFileSync(join(folder, 'wrist-02.ref.csv'), 't_start,t_end,hr\n0,8,fast\n');
    expect(() => readReference(folder, 'wrist-02.json')).to.throw(
      'wrist-02.ref.csv: this line is not a row of numbers',
    );
    writeFileSync(join(folder, 'wrist-02.json'), '{"id":"wrist-02"}');
    expect(() => readReference(folder, 'wrist-02.json')).to.throw('wrist-02.json is no manifest');
  });
});
