import { type ParseArgsConfig, parseArgs } from 'node:util';

/** A command line that cannot be followed; the message says what to write instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type OptionSpec = NonNullable<ParseArgsConfig['options']>;

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** A date, and perhaps a time of day. A Date reads much else, such as "5" as a day of May 2001. */
const WITH_DATE = /^(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/i;

/** A Date takes the 30th of February for the 2nd of March. */
function isDay(date: string): boolean {
  const read = new Date(date);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(date);
}

function agoOf(text: string, now: number): number | null {
  const [, count, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  return count === undefined ? null : now - Number(count) * (UNIT_MS[unit] ?? 0);
}

/** The values of a command's options, read with their kind. */
export class Arguments {
  readonly positionals: readonly string[];
  readonly #values: Readonly<Record<string, unknown>>;

  /** @throws UsageError for an unknown option or one without its value */
  constructor(args: readonly string[], options: OptionSpec) {
    try {
      const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
      this.#values = values;
      this.positionals = positionals;
    } catch (cause) {
      throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
    }
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === 'string' ? value : undefined;
  }

  texts(name: string): string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** One of several words. */
  choice<T extends string>(name: string, known: readonly T[]): T | undefined {
    const text = this.text(name);
    const found = known.find((word) => word === text);
    if (text !== undefined && !found)
      throw new UsageError(`--${name} must be one of ${known.join(', ')}; it is "${text}"`);
    return found;
  }

  /** A number above 0. */
  positive(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!(value > 0 && value < Number.POSITIVE_INFINITY))
      throw new UsageError(`--${name} must be a number above 0; it is "${text}"`);
    return value;
  }

  /** An instant: ISO 8601, or a time before `now` (ms since the epoch) such as 90s, 15m, 1h or 7d. */
  instant(name: string, now: number): Date | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const [, day] = WITH_DATE.exec(text) ?? [];
    if (day !== undefined && !isDay(day)) throw new UsageError(`--${name} is "${text}", and there is no day ${day}`);
    const date = new Date(agoOf(text, now) ?? (day === undefined ? Number.NaN : text));
    const year = date.getUTCFullYear(); // The service takes no other years than these.
    if (!(year >= 0 && year <= 9999))
      throw new UsageError(
        `--${name} must be a time such as 2026-01-31T08:00:00Z, or an age such as 90s, 15m, 1h or 7d; it is "${text}"`,
      );
    return date;
  }
}
