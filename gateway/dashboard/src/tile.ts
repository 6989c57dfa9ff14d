import { duration } from './format.js';
import { type Lack, NO_LACK } from './problems.js';
import { type Reading, STALE_MS, shown, staleMs, TYPE_NAMES, TYPES, type Type } from './readings.js';

/** Time that the small lines cover, ms. */
export const LINE_MS = 300_000;

interface Line {
  readonly value: HTMLElement;
  readonly word: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly points: Reading[];
  /** The reading that is shown. */
  drawn: Reading | null;
}

/** One device on the live page. Drawn without a framework, because a hundred of them change every second. */
export class Tile {
  readonly #lines: ReadonlyMap<Type, Line>;
  readonly #age: HTMLElement;
  readonly #why: HTMLElement;
  #lack: Lack = NO_LACK;
  #newest = 0;
  #wasStale = false;

  constructor(private readonly root: HTMLElement) {
    this.#age = root.querySelector('.age') as HTMLElement;
    this.#why = root.querySelector('.why') as HTMLElement;
    this.#lines = new Map(
      TYPE_NAMES.map((type) => {
        const row = root.querySelector(`[data-type="${type}"]`) as HTMLElement;
        const part = (name: string) => row.querySelector(name) as HTMLElement;
        const canvas = row.querySelector('canvas') as HTMLCanvasElement;
        return [type, { value: part('.value'), word: part('.word'), canvas, points: [], drawn: null }];
      }),
    );
  }

  take(reading: Reading): void {
    const points = this.#lines.get(reading.type)?.points;
    if (!points || (points.at(-1)?.ts ?? 0) >= reading.ts) return;
    points.push(reading);
    while ((points[0]?.ts ?? reading.ts) < reading.ts - LINE_MS) points.shift();
    this.#newest = Math.max(this.#newest, reading.ts);
  }

  /** Inserts older readings before those that have already arrived. */
  seed(readings: readonly Reading[]): void {
    for (const [type, { points }] of this.#lines) {
      const first = points[0]?.ts ?? Number.POSITIVE_INFINITY;
      points.unshift(...readings.filter((reading) => reading.type === type && reading.ts < first));
      this.#newest = Math.max(this.#newest, points.at(-1)?.ts ?? 0);
    }
  }

  /** Takes the reasons for missing readings, which are shown with the next drawing or tick. */
  explain(lack: Lack): void {
    this.#lack = lack;
  }

  /** Draws the readings that have arrived. */
  draw(now: number, colors: Readonly<Record<Type, string>>): void {
    for (const [type, line] of this.#lines) {
      const last = line.points.at(-1);
      if (!last || last === line.drawn) continue;
      line.drawn = last;
      drawLine(line.canvas, line.points, now, colors[type]);
    }
    this.tick(now);
  }

  /** Shows the age of the newest reading and, for a type without a trusted one, the reason. */
  tick(now: number): void {
    for (const [type, line] of this.#lines) this.#number(type, line, now);
    const age = now - this.#newest;
    const isStale = this.#newest > 0 && age > STALE_MS;
    if (isStale !== this.#wasStale) this.root.classList.toggle('stale', isStale);
    this.#wasStale = isStale;
    set(this.#age, this.#newest === 0 ? 'waiting for readings' : isStale ? `${duration(age)} ago` : 'live');
    set(this.#why, (isStale || this.#newest === 0) && this.#lack.all ? this.#lack.all.text : '');
    if (this.#why.title !== (this.#lack.all?.detail ?? '')) this.#why.title = this.#lack.all?.detail ?? '';
  }

  #number(type: Type, { value, word, drawn: last }: Line, now: number): void {
    const isTrusted = last !== null && last.sqi_class !== 'unfit';
    const why = isTrusted && now - last.ts <= staleMs(type) ? undefined : this.#lack.types.get(type);
    set(value, last && !why ? shown(last) : '–');
    const quality = last && !why ? last.sqi_class : 'unfit';
    if (value.dataset.quality !== quality) value.dataset.quality = quality;
    set(word, why?.text ?? (last && !isTrusted ? 'estimating' : TYPES[type].unit));
    if (word.title !== (why?.detail ?? '')) word.title = why?.detail ?? '';
  }
}

/** Draws readings as a small line; unfit ones leave a gap. */
function drawLine(canvas: HTMLCanvasElement, points: readonly Reading[], now: number, color: string): void {
  const scale = Math.min(2, devicePixelRatio);
  const [width, height] = [Number(canvas.dataset.width), Number(canvas.dataset.height)];
  if (canvas.width !== width * scale) {
    canvas.width = width * scale;
    canvas.height = height * scale;
  }
  const context = canvas.getContext('2d');
  if (!context) return;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { value, sqi_class } of points) {
    if (sqi_class === 'unfit') continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  const middle = (least + most) / 2;
  const reach = Math.max(4, (most - least) / 2) * 1.15;
  context.beginPath();
  let before: Reading | null = null;
  for (const point of points) {
    if (point.sqi_class === 'unfit') {
      before = null;
      continue;
    }
    const x = width - ((now - point.ts) / LINE_MS) * width;
    const y = height / 2 - ((point.value - middle) / reach) * (height / 2 - 1);
    if (before && point.ts - before.ts < staleMs(point.type)) context.lineTo(x, y);
    else context.moveTo(x, y);
    before = point;
  }
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.lineJoin = 'round';
  context.stroke();
}

/** The current theme's colours of the types. */
export function typeColors(): Record<Type, string> {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(
    TYPE_NAMES.map((type) => [type, style.getPropertyValue(TYPES[type].color).trim()]),
  ) as Record<Type, string>;
}

function set(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
