import { useState } from 'preact/hooks';
import type { Listed } from '../../src/dashboard/schemas.js';
import { api, type Loaded, useLoad } from './api.js';

/** A list that grows page by page; `path` without its cursor. */
interface Paged<Row> {
  readonly rows: readonly Row[] | undefined;
  readonly next: string | null;
  /** Time at which the rows were received, if they could not be loaded again. */
  readonly at: number | undefined;
  readonly error: Error | undefined;
  more(): void;
  reload(): Promise<void>;
}

/** Loads the first page, and further ones when asked. */
export function usePages<Row>(path: string | null, every?: number): Paged<Row> {
  const first: Loaded<Listed<Row>> = useLoad<Listed<Row>>(path, every);
  const [further, setFurther] = useState<{ path: string | null; rows: readonly Row[]; next: string | null }>();
  const [error, setError] = useState<Error>();
  const mine = further?.path === path ? further : undefined;
  const next = mine ? mine.next : (first.data?.next ?? null);
  const more = async () => {
    if (path === null || next === null) return;
    const cursor = `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(next)}`;
    try {
      const page = await api<Listed<Row>>('GET', path + cursor);
      setFurther({ path, rows: [...(mine?.rows ?? []), ...page.rows], next: page.next });
    } catch (caught) {
      setError(caught as Error);
    }
  };
  return {
    rows: first.data && [...first.data.rows, ...(mine?.rows ?? [])],
    next,
    at: first.error && first.at,
    error: first.error ?? error,
    more: () => void more(),
    reload: async () => {
      setFurther(undefined);
      await first.reload();
    },
  };
}
