import type { Clock } from '@device-insights/fanout/platform/clock';
import type { Config } from '../config.js';
import { firstKey } from '../keys/first-key.js';
import { firstOperator } from '../operators/operator.js';
import type { Store } from '../store/store.js';

/**
 * Makes sure that a new store can be used: issues the first API key and the first operator's password, unless the
 * configuration gives them.
 *
 * @param show shows a line with a new secret to the operator; called as soon as the secret is stored, since it cannot be
 *   shown later
 */
export async function provideAccess(
  config: Config,
  store: Store,
  clock: Clock,
  show: (line: string) => void,
): Promise<void> {
  const { bootstrapApiKey, mongodbUri, dashboard, dashboardPassword } = config;
  const makesKey = bootstrapApiKey === null && mongodbUri === null;
  const newKey = makesKey ? await firstKey(store, clock.now()) : null;
  if (newKey) show(`API key of the account default, shown only this once: ${newKey}`);
  const makesOperator = dashboard && (mongodbUri === null || dashboardPassword !== null);
  const operator = makesOperator ? await firstOperator(store, dashboardPassword, clock.now()) : null;
  if (operator?.password)
    show(`sign in as ${operator.name} with the password, shown only this once: ${operator.password}`);
}
