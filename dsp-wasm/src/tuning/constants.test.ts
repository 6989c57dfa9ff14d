import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ASSEMBLY, parseConstants, readConstants, withImports } from './constants.js';

const parse = (comment: string, value = '0.5', type = 'f32') =>
  parseConstants(`/** ${comment} */\nexport const SHARE: ${type} = ${value};`, 'room');

describe('the constants of the tuning', () => {
  it('say each what they are, in which unit, and whether they are cited, derived, fitted or chosen', () => {
    const folders = new Set(readConstants().map(({ folder }) => folder));
    expect([...folders].toSorted()).to.deep.equal(['beats', 'breath', 'ecg', 'grid', 'pulse', 'spo2']);
  });

  it('have each that is chosen a row in SENSITIVITY.md with its value (npm run fit -- --constants NAME)', () => {
    const page = readFileSync(new URL('../SENSITIVITY.md', ASSEMBLY), 'utf8');
    const rows = [...page.matchAll(/<!-- table (\w+) -->(.*?)<!-- end -->/gs)].flatMap(([, folder, table = '']) =>
      [...table.matchAll(/^\| ([A-Z][\w.]*) \| (\S+) \|/gm)].map(([, name, value]) => `${folder} ${name} ${value}`),
    );
    const chosen = readConstants()
      .filter(({ origin }) => origin === 'chosen')
      .map(({ folder, name, value }) => `${folder} ${name} ${value}`);
    expect(chosen.filter((one) => !rows.includes(one))).to.deep.equal([]);
    expect(rows.filter((one) => !chosen.includes(one))).to.deep.equal([]);
  });

  it('are read with their values, in the order of the file', () => {
    const text = `/** A. [s; chosen] */ export const A: f64 = -2.5;
      /** Half\n * of A. [s; derived: A] */ export const B: f64 = A / 2;`;
    expect(parseConstants(text, 'room')).to.deep.equal([
      { folder: 'room', name: 'A', type: 'f64', value: -2.5, what: 'A.', unit: 's', origin: 'chosen', source: '' },
      {
        folder: 'room',
        name: 'B',
        type: 'f64',
        value: null,
        what: 'Half of A.',
        unit: 's',
        origin: 'derived',
        source: 'A',
      },
    ]);
  });

  it('of a step are in its namespace, and named by it', () => {
    const text = `/** A. [s; chosen] */ export const A: f32 = 1;
      /** A step. */
      export namespace TRACKING {
        /** B. [bpm; chosen] */
        export const B: f32 = 2;
        /** C. [bpm; derived: B] */
        export const C: f32 = B + 1;
      }`;
    expect(parseConstants(text, 'room').map(({ name, value }) => [name, value])).to.deep.equal([
      ['A', 1],
      ['TRACKING.B', 2],
      ['TRACKING.C', null],
    ]);
    const imports = withImports(text, 'room');
    expect(imports).to.include('@external("room", "A") export declare const A: f32;');
    expect(imports).to.include('@external("room", "TRACKING.B") export declare const B: f32;');
    expect(imports).to.include('export const C: f32 = B + 1;');
  });

  it('are refused without a comment of that form', () => {
    expect(() => parse('A share.')).to.throw('room/tuning.ts: SHARE: its comment must end in [unit; origin]');
    expect(() => parse('A share. [parsecs; chosen]')).to.throw('unknown unit parsecs');
    expect(() => parse('A share. [share; guessed]')).to.throw('unknown origin guessed');
    expect(() => parse('A share. [share; cited]')).to.throw('add its source');
    expect(() => parse('A share. [share; chosen]', '1 / 3')).to.throw('an expression is derived');
  });
});
