import { INSIGHT_TYPES, type InsightType, type StoredInsight, UNITS } from '../insight.js';

/** Maximum number of points of a series; a chart has fewer pixels. */
const POINTS = 2000;
/** Maximum number of readings of one response, over all types: a session of two days. */
const READINGS = 600_000;
/** Distance of two readings, in units of their median distance, from which there is a gap between them. */
const GAP = 2.5;

/** One reading, or a gap, which has only a time. */
type Point = Pick<StoredInsight, 'actual_end'> & Partial<StoredInsight>;

/** The data of a session's charts up to a time. Long series are thinned; their highest and lowest points are kept. */
export async function seriesOf(batches: AsyncIterable<readonly StoredInsight[]>, to: number | null): Promise<Series[]> {
  const found = new Map<InsightType, StoredInsight[]>(INSIGHT_TYPES.map((type) => [type, []]));
  let readings = 0;
  for await (const batch of batches) {
    for (const row of batch) if (to === null || row.actual_end <= to) found.get(row.type)?.push(row);
    readings += batch.length;
    const last = batch.at(-1);
    if (readings >= READINGS || (to !== null && last && last.actual_end > to)) break;
  }
  return [...found].filter(([, rows]) => rows.length > 0).map(([type, rows]) => columns(type, rows));
}

/** The readings of one type in parallel lists. In a gap all lists except `t` are null. */
export type Series = ReturnType<typeof columns>;

function columns(type: InsightType, rows: readonly StoredInsight[]) {
  const points = withGaps(thinned(rows), usualDistance(rows));
  const column = <Name extends keyof StoredInsight>(name: Name) => points.map((point) => point[name] ?? null);
  return {
    type,
    unit: UNITS[type],
    algorithms: [...new Set(rows.map(({ algorithm }) => algorithm))],
    /** `actual_end`, ms. */
    t: points.map(({ actual_end }) => actual_end),
    value: column('value'),
    confidence: column('confidence'),
    quality: column('sqi_class'),
    coverage: column('coverage'),
    latency: column('e2e_latency_ms'),
    /** Number of readings, and whether some of them are left out here. */
    readings: rows.length,
    thinned: rows.length > POINTS,
  };
}

/** The highest and the lowest reading of each stretch. */
function thinned(rows: readonly StoredInsight[]): readonly StoredInsight[] {
  if (rows.length <= POINTS) return rows;
  const stretch = rows.length / (POINTS / 2);
  return Array.from({ length: POINTS / 2 }, (_, i) =>
    rows.slice(Math.floor(i * stretch), Math.floor((i + 1) * stretch)),
  )
    .flatMap(extremes)
    .filter((row) => row !== undefined);
}

function extremes(rows: readonly StoredInsight[]): readonly (StoredInsight | undefined)[] {
  let [lowest, highest] = [rows[0], rows[0]];
  for (const row of rows) {
    if (lowest && row.value < lowest.value) lowest = row;
    if (highest && row.value >= highest.value) highest = row;
  }
  const ends = [...new Set([lowest, highest])];
  return ends.sort((a, b) => (a?.actual_end ?? 0) - (b?.actual_end ?? 0));
}

/** Inserts a point without a reading into every gap. */
function withGaps(rows: readonly StoredInsight[], distance: number): Point[] {
  const limit = Math.max(distance * GAP, ((rows.at(-1)?.actual_end ?? 0) - (rows[0]?.actual_end ?? 0)) / (POINTS / 4));
  return rows.flatMap((row, i): Point[] => {
    const before = rows[i - 1];
    if (!before || row.actual_end - before.actual_end <= limit) return [row];
    return [{ actual_end: before.actual_end + distance }, row];
  });
}

function endOf(row: StoredInsight | undefined): number {
  return row?.actual_end ?? 0;
}

/** Median distance of the readings, ms. An array of numbers is sorted ten times as fast as a list, and blocks less. */
function usualDistance(rows: readonly StoredInsight[]): number {
  const distances = new Float64Array(rows.length - 1).map((_, i) => endOf(rows[i + 1]) - endOf(rows[i]));
  return distances.sort()[Math.floor(distances.length / 2)] ?? 1000;
}
