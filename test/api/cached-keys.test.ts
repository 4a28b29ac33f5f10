/** API keys that were looked up a moment ago: how long that counts, and that a removed key opens nothing. */
import { expect, it } from 'vitest';
import { cachedKeys } from '../../api/keys/cached-keys.ts';
import { userId } from '../../core/ids.ts';
import type { ApiKey, ApiKeyStore } from '../../ports/api-keys.ts';

const ADA = userId('ada');
const KEY: ApiKey = {
  keyId: 7,
  userId: ADA,
  name: 'ci',
  scope: 'user',
  createdAt: 0,
  notBefore: null,
  expiresAt: null,
  lastUsedAt: null,
};

const NO_TIMER = () => ({ cancel: () => undefined });

/** A store that counts its look-ups, and a clock that stands until it is moved. */
function counted() {
  const held = new Map<string, ApiKey>([['hash', KEY]]);
  const at = { now: 1_000 };
  const asked: string[] = [];
  const noted: number[] = [];
  const store: ApiKeyStore = {
    add: () => Promise.reject(new Error('nobody adds')),
    findByHash: (hash) => Promise.resolve(asked.push(hash)).then(() => held.get(hash) ?? null),
    noteUse: (_keyId, when) => Promise.resolve(void noted.push(when)),
    list: () => Promise.resolve([...held.values()]),
    remove: () => Promise.resolve(held.delete('hash')),
    hasAny: () => Promise.resolve(held.size > 0),
  };
  const keys = cachedKeys(store, { now: () => at.now, steady: () => at.now, setTimer: NO_TIMER });
  return { store, keys, held, at, asked, noted };
}

it('asks once a second for a key that is used all the time, also when calls come at once', async () => {
  const { keys, at, asked } = counted();
  const found = await Promise.all([keys.findByHash('hash'), keys.findByHash('hash')]);
  expect(found).toEqual([KEY, KEY]);
  at.now += 999;
  await keys.findByHash('hash');
  expect(asked).toHaveLength(1);
  at.now += 1;
  await keys.findByHash('hash');
  expect(asked).toHaveLength(2);
});

it('always asks for a key that nobody has: it may have been made meanwhile', async () => {
  const { keys, held, asked } = counted();
  expect(await keys.findByHash('new')).toBeNull();
  held.set('new', { ...KEY, keyId: 8 });
  expect(await keys.findByHash('new')).toMatchObject({ keyId: 8 });
  expect(asked).toEqual(['new', 'new']);
});

it('opens nothing with a key that this process has removed, and within a second with any', async () => {
  const { keys, held, at } = counted();
  await keys.findByHash('hash');
  await keys.remove(ADA, 7);
  expect(await keys.findByHash('hash')).toBeNull();
  held.set('hash', KEY);
  await keys.findByHash('hash');
  held.delete('hash');
  at.now += 1_000;
  expect(await keys.findByHash('hash')).toBeNull();
});

it('says when a key was used last although it was looked up before', async () => {
  const { keys, noted } = counted();
  await keys.findByHash('hash');
  await keys.noteUse(7, 1_500);
  expect(await keys.findByHash('hash')).toMatchObject({ lastUsedAt: 1_500 });
  expect(noted).toEqual([1_500]);
});

it('does not keep a failed look-up', async () => {
  const { store } = counted();
  const ends = [() => Promise.reject(new Error('away')), () => Promise.resolve(KEY)];
  const findByHash = () => (ends.shift() as () => Promise<ApiKey>)();
  const failing = cachedKeys({ ...store, findByHash }, { now: () => 0, steady: () => 0, setTimer: NO_TIMER });
  await expect(failing.findByHash('hash')).rejects.toThrow('away');
  expect(await failing.findByHash('hash')).toEqual(KEY);
});
