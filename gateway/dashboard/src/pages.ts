import { useState } from 'preact/hooks';
import type { Listed } from '../../src/dashboard/rows.js';
import { api, type Loaded, useLoad } from './api.js';

/** A list that grows page by page; `path` without its cursor. */
export interface Paged<Row> {
  readonly rows: readonly Row[] | undefined;
  readonly next: string | null;
  /** Time at which the rows were received, if they could not be loaded again. */
  readonly at: number | undefined;
  readonly error: Error | undefined;
  more(): void;
  reload(): Promise<void>;
}

/**
 * Loads the first page, again every `every` ms, and further ones when asked. A list with further pages is not loaded again: rows that
 * come in front of it would push others out between its pages.
 */
export function usePages<Row>(path: string, every?: number): Paged<Row> {
  const [grown, setGrown] = useState<Listed<Row> & { path: string; error?: Error }>();
  const mine = grown?.path === path ? grown : undefined;
  const first: Loaded<Listed<Row>> = useLoad<Listed<Row>>(path, mine ? undefined : every);
  const list = mine ?? first.data;
  const more = async () => {
    if (!list || list.next === null) return;
    const cursor = `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(list.next)}`;
    try {
      const page = await api<Listed<Row>>('GET', path + cursor);
      setGrown({ path, rows: [...list.rows, ...page.rows], next: page.next });
    } catch (error) {
      setGrown({ path, rows: list.rows, next: list.next, error: error as Error });
    }
  };
  return {
    rows: list?.rows,
    next: list?.next ?? null,
    at: first.error && first.at,
    error: first.error ?? mine?.error,
    more: () => void more(),
    reload: async () => {
      setGrown(undefined);
      await first.reload();
    },
  };
}
