/** A key that the deployment gives is taken as it is, and refused where it could be guessed. */
import { describe, expect, it } from 'vitest';
import { hashOfKey } from '../../api/application/authentication.ts';
import { issueKey } from '../../api/keys/issue-key.ts';
import { userId } from '../../core/ids.ts';
import type { ApiKeyStore } from '../../ports/api-keys.ts';

describe('a given key', () => {
  const directive = {
    userId: userId('local'),
    name: 'first',
    scope: 'admin',
    now: 1,
    notBefore: null,
    expiresAt: null,
  } as const;
  const kept: string[] = [];
  const keys: Pick<ApiKeyStore, 'add'> = {
    add: (record, sha256) => {
      kept.push(sha256);
      return Promise.resolve({ ...record, keyId: 1, lastUsedAt: null });
    },
  };

  it('is stored as its hash', async () => {
    const key = `pa-${'0123456789abcdef'.repeat(4)}`;
    expect((await issueKey(keys as ApiKeyStore, { ...directive, key })).key).toBe(key);
    expect(kept).toEqual([hashOfKey(key)]);
  });

  it.each(['', 'pa-short', `xx-${'a'.repeat(64)}`, `pa-${'a'.repeat(42)}`, `pa-${'a b'.repeat(20)}`])(
    'is refused as "%s"',
    async (key) => {
      await expect(issueKey(keys as ApiKeyStore, { ...directive, key })).rejects.toMatchObject({
        code: 'config_invalid',
      });
    },
  );
});
