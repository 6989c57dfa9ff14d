import type { AdminContext } from '../admin/context.js';
import { Refusal } from '../admin/refusal.js';
import { HttpError } from '../errors.js';
import type { Operator } from '../store/store.js';
import type { DashboardOptions } from './dashboard-context.js';

/** Runs a task of the command line in the name of an operator. A `Refusal` becomes 409. */
export async function performed<Result>(
  { name: actor }: Operator,
  { store, algorithms, clock }: DashboardOptions,
  task: (context: AdminContext) => Promise<Result>,
): Promise<Result> {
  try {
    return await task({ store, algorithms, clock, actor });
  } catch (error) {
    if (error instanceof Refusal) throw new HttpError('conflict', error.message);
    throw error;
  }
}
