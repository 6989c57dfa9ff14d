import type { KeyHolder } from '@device-insights/fanout';
import type { KeySource } from '@device-insights/fanout/key-mirror';
import type { KeyRing } from './key-ring.js';
import type { Key, Store } from './store/store.js';

/** The store's keys, for the mirror that fan-out nodes read. */
export function storeKeys(store: Store, keys: KeyRing): KeySource {
  const where = async (wanted: (key: Key) => boolean) => (await store.keys(null)).filter(wanted);
  return {
    async holders() {
      const good = await where((key) => key.revokedAt === null);
      return new Map(good.map((key): [string, KeyHolder] => [key.hash, { account: key.accountId, user: key.user }]));
    },
    revoked: async () => (await where((key) => key.revokedAt !== null)).map((key) => key.hash),
    holder: (hash) => keys.holder(hash),
  };
}
