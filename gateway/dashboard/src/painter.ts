import { type Lack, NO_LACK } from './problems.js';
import type { Reading } from './readings.js';
import { now } from './service-clock.js';
import { Tile, typeColors } from './tile.js';

/** Maximum time spent on painting in one frame, ms; the other tiles wait for the next frame. */
const BUDGET_MS = 6;
const TICK_MS = 1000;
/** Maximum number of readings that are kept of a device without a tile. */
const MOST_EARLY = 10;

/** Paints a few tiles in each animation frame, so that no frame is late, even with many devices. */
export class Painter {
  readonly #tiles = new Map<string, Tile>();
  readonly #early = new Map<string, Reading[]>();
  readonly #seeded = new Set<string>();
  readonly #lacks = new Map<string, Lack>();
  readonly #dirty = new Set<Tile>();
  readonly #ticks: number;
  readonly #dark = matchMedia('(prefers-color-scheme: dark)');
  readonly #recolor = () => {
    this.#colors = typeColors();
  };
  #colors = typeColors();
  #frame = 0;

  constructor() {
    this.#ticks = window.setInterval(() => this.#tick(), TICK_MS);
    this.#dark.addEventListener('change', this.#recolor);
  }

  /** Shows a device at an element, from now on. */
  put(device: string, root: HTMLElement): void {
    const tile = new Tile(root);
    this.#tiles.set(device, tile);
    for (const reading of this.#early.get(device) ?? []) tile.take(reading);
    this.#early.delete(device);
    tile.explain(this.#lacks.get(device) ?? NO_LACK);
    this.#mark(tile);
  }

  remove(device: string): void {
    this.#tiles.delete(device);
    this.#seeded.delete(device);
  }

  /** Takes the reasons for missing readings of a device; they stay until there are others. */
  explain(device: string, lack: Lack): void {
    this.#lacks.set(device, lack);
    this.#tiles.get(device)?.explain(lack);
  }

  /** Whether a device has the readings from before this page was opened. */
  isSeeded(device: string): boolean {
    return this.#seeded.has(device);
  }

  /** Takes a reading. Returns false if its device has no tile yet; the reading is then kept for that tile. */
  take(reading: Reading): boolean {
    const tile = this.#tiles.get(reading.device_id);
    if (!tile) {
      const early = this.#early.get(reading.device_id) ?? [];
      early.push(reading);
      if (early.length > MOST_EARLY) early.shift();
      this.#early.set(reading.device_id, early);
      return false;
    }
    tile.take(reading);
    this.#mark(tile);
    return true;
  }

  /** Gives a device the readings from before this page was opened; without a tile yet, they are kept for it. */
  seed(device: string, readings: readonly Reading[]): void {
    this.#seeded.add(device);
    const tile = this.#tiles.get(device);
    if (!tile) return void this.#early.set(device, [...readings, ...(this.#early.get(device) ?? [])]);
    tile.seed(readings);
    this.#mark(tile);
  }

  close(): void {
    clearInterval(this.#ticks);
    cancelAnimationFrame(this.#frame);
    this.#dark.removeEventListener('change', this.#recolor);
  }

  #mark(tile: Tile): void {
    this.#dirty.add(tile);
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#paint());
  }

  #paint(): void {
    const begun = performance.now();
    const time = now();
    for (const tile of this.#dirty) {
      if (performance.now() - begun > BUDGET_MS) break;
      this.#dirty.delete(tile);
      tile.draw(time, this.#colors);
    }
    this.#frame = this.#dirty.size > 0 ? requestAnimationFrame(() => this.#paint()) : 0;
  }

  #tick(): void {
    const time = now();
    for (const tile of this.#tiles.values()) tile.tick(time);
  }
}
