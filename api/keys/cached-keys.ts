/**
 * Keys that were read a moment ago: a client calls many times a second, and its key changes hardly ever.
 * Owns how long a read counts. A key that this process removes opens nothing from then on; one that another process
 * removes opens nothing a second later.
 */
import type { ApiKey, ApiKeyStore } from '../../ports/api-keys.ts';
import type { Clock } from '../../ports/clock.ts';

const COUNTS_MS = 1_000;
/** Far more than call within a second. */
const KEYS_MAX = 10_000;

interface Entry {
  /** By the monotonic clock: a wall clock that is set back would make a removed key count for hours. */
  readonly until: number;
  readonly found: Promise<ApiKey | null>;
}

/** The store with `findByHash` answered from what it said within the last second; unknown keys are always queried. */
export function cachedKeys(store: ApiKeyStore, clock: Clock): ApiKeyStore {
  const entries = new Map<string, Entry>();
  const used = new Map<number, number>();
  const look = (sha256: string): Promise<ApiKey | null> => {
    const found = store.findByHash(sha256);
    if (entries.size >= KEYS_MAX) entries.clear();
    entries.set(sha256, { until: clock.steady() + COUNTS_MS, found });
    const forget = (): void => {
      if (entries.get(sha256)?.found === found) entries.delete(sha256);
    };
    found.then((key) => (key === null ? forget() : undefined), forget);
    return found;
  };
  return {
    add: (...key) => store.add(...key),
    async findByHash(sha256) {
      const known = entries.get(sha256);
      const key = await (known !== undefined && clock.steady() < known.until ? known.found : look(sha256));
      const at = key === null ? undefined : used.get(key.keyId);
      return key === null || at === undefined ? key : { ...key, lastUsedAt: at };
    },
    async noteUse(keyId, at) {
      // Before it is written: of many calls at once one writes.
      if (used.size >= KEYS_MAX) used.clear();
      used.set(keyId, at);
      await store.noteUse(keyId, at);
    },
    list: (userId) => store.list(userId),
    async remove(userId, keyId) {
      try {
        return await store.remove(userId, keyId);
      } finally {
        entries.clear();
      }
    },
    hasAny: () => store.hasAny(),
  };
}
