import type { Constant } from '@device-insights/dsp-wasm/tuning';
import { table } from '../page.js';
import type { Row } from '../score.js';
import type { Block } from './blocks.js';

/** The scores of one constant at half and at twice its value; null where the core failed. */
export interface Trial {
  readonly constant: Constant;
  readonly half: number;
  readonly twice: number;
  readonly atHalf: readonly Block[] | null;
  readonly atTwice: readonly Block[] | null;
}

/** Number of standard errors from which a difference is beyond the spread. */
const STANDARD_ERRORS = 2;
/** A constant is at a cliff if the MAE becomes larger by this factor, or if this many more percent are wrong but trusted. */
const CLIFF_MAE = 1.25;
const CLIFF_WRONG = 1;

/** What is reported of a group: its name, its digits, its value, and that of a block (NaN if it has none). */
const FIGURES: readonly Figure[] = [
  { name: 'MAE', digits: 2, of: (blocks) => sum(blocks, 'errors') / sum(blocks, 'answered'), isCost: true },
  { name: 'wrong %', digits: 2, of: (blocks) => (100 * sum(blocks, 'wrong')) / sum(blocks, 'windows'), isCost: true },
  {
    name: 'trusted %',
    digits: 1,
    of: (blocks) => (100 * sum(blocks, 'trusted')) / sum(blocks, 'windows'),
    isCost: false,
  },
];

interface Figure {
  readonly name: 'MAE' | 'wrong %' | 'trusted %';
  readonly digits: number;
  readonly of: (blocks: readonly Block[]) => number;
  /** Whether less of it is better. */
  readonly isCost: boolean;
}

function sum(blocks: readonly Block[], field: Exclude<keyof Block, 'group'>): number {
  return blocks.reduce((total, { [field]: value }) => total + value, 0);
}

/** The table of a folder's constants, and what stands out of it. */
export function report(base: readonly Block[], groups: readonly string[], trials: readonly Trial[]): string {
  const columns = groups.flatMap((group) => FIGURES.map((figure) => ({ group, figure, own: of(base, group) })));
  const first: Row = {
    constant: 'all as they are',
    value: '',
    'half, twice': '',
    what: '',
    ...Object.fromEntries(columns.map(({ group, figure, own }) => [titleOf(group, figure), show(figure, own)])),
  };
  const rows = trials.map(
    ({ constant: { name, value, what }, half, twice, atHalf, atTwice }): Row => ({
      constant: name,
      value,
      'half, twice': `${half}, ${twice}`,
      what: what.split('. ', 1)[0] ?? '',
      ...Object.fromEntries(
        columns.map(({ group, figure, own }) => [
          titleOf(group, figure),
          both([atHalf, atTwice].map((blocks) => cell(figure, own, blocks && of(blocks, group)))),
        ]),
      ),
    }),
  );
  return [
    table([first, ...rows]),
    '',
    `At a cliff: ${names(trials.filter((trial) => isAtCliff(base, groups, trial)))}.`,
    '',
    `Without any effect on these readings: ${names(trials.filter((trial) => isIdle(base, trial)))}.`,
  ].join('\n');
}

function titleOf(group: string, { name }: Figure): string {
  return `${group}: ${name}`;
}

/** The figures at half and at twice the value; one `=` where neither differs. */
function both(cells: readonly string[]): string {
  return cells.every((text) => text === '=') ? '=' : cells.join(', ');
}

function names(trials: readonly Trial[]): string {
  return trials.map(({ constant }) => constant.name).join(', ') || 'none';
}

function of(blocks: readonly Block[], group: string): Block[] {
  return blocks.filter((block) => block.group === group);
}

function show({ of, digits }: Figure, blocks: readonly Block[]): string {
  const value = of(blocks);
  return Number.isNaN(value) ? '-' : String(Number(value.toFixed(digits)));
}

/** The figure, `=` if it is the same; bold if it is worse beyond the spread, in italics if it is better. */
function cell(figure: Figure, base: readonly Block[], blocks: readonly Block[] | null): string {
  if (!blocks) return '**fails**';
  const text = show(figure, blocks);
  if (text === show(figure, base)) return '=';
  const change = changeBeyondSpread(figure, base, blocks);
  if (change === 0) return text;
  return change > 0 === figure.isCost ? `**${text}**` : `*${text}*`;
}

/** Mean change of a block; 0 if it is within the spread over the blocks. */
function changeBeyondSpread({ of }: Figure, base: readonly Block[], blocks: readonly Block[]): number {
  const changes = base.flatMap((block, i) => {
    const other = blocks[i];
    const change = other ? of([other]) - of([block]) : Number.NaN;
    return Number.isNaN(change) ? [] : [change];
  });
  const n = changes.length;
  const mean = changes.reduce((total, change) => total + change, 0) / n;
  const variance = changes.reduce((total, change) => total + (change - mean) ** 2, 0) / (n - 1);
  return Math.abs(mean) > STANDARD_ERRORS * Math.sqrt(variance / n) ? mean : 0;
}

function isAtCliff(base: readonly Block[], groups: readonly string[], { atHalf, atTwice }: Trial): boolean {
  const isSteep = (figure: Figure, own: readonly Block[], blocks: readonly Block[]) => {
    const [before, after] = [figure.of(own), figure.of(blocks)];
    const steep = figure.name === 'MAE' ? after >= CLIFF_MAE * before : after >= before + CLIFF_WRONG;
    return figure.isCost && steep && changeBeyondSpread(figure, own, blocks) > 0;
  };
  return [atHalf, atTwice].some(
    (blocks) =>
      !blocks || groups.some((group) => FIGURES.some((figure) => isSteep(figure, of(base, group), of(blocks, group)))),
  );
}

function isIdle(base: readonly Block[], { atHalf, atTwice }: Trial): boolean {
  return [atHalf, atTwice].every((blocks) => JSON.stringify(blocks) === JSON.stringify(base));
}
