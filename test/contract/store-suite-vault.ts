/** The contract of the vault: what goes in comes out, only with the right key and under its own name. */
import { describe, expect, it } from 'vitest';
import { sealKey } from '../../store/access/seal-key.ts';
import type { OpenEmptyStore } from './store-harness.ts';

const keyOf = (byte: number) => sealKey(new Uint8Array(32).fill(byte));
const VALUE = 'hunter2 \u0000 ünïcode';

export function vaultSuite(open: OpenEmptyStore): void {
  describe('SecretVault', () => {
    it('keeps values by scope and name', async () => {
      const vault = (await open()).vault(keyOf(1));
      expect(await vault.get('c/1', 'TOKEN')).toBeNull();
      await vault.put('c/1', 'TOKEN', 'old');
      await vault.put('c/1', 'TOKEN', VALUE);
      await vault.put('c/1', 'EMPTY', '');
      await vault.put('c/2', 'TOKEN', 'other');
      expect(await vault.get('c/1', 'TOKEN')).toBe(VALUE);
      expect(await vault.get('c/1', 'EMPTY')).toBe('');
      expect(await vault.names('c/1')).toEqual(['EMPTY', 'TOKEN']);
      await vault.removeScope('c/1');
      await vault.removeScope('c/1');
      expect(await vault.names('c/1')).toEqual([]);
      expect(await vault.get('c/2', 'TOKEN')).toBe('other');
    });

    it('opens with the key that sealed, and with no other', async () => {
      const store = await open();
      await store.vault(keyOf(1)).put('s', 'TOKEN', VALUE);
      await expect(store.vault(keyOf(2)).get('s', 'TOKEN')).rejects.toMatchObject({ code: 'seal_broken' });
      const rotated = store.vault(keyOf(2), { previous: [keyOf(1)] });
      expect(await rotated.get('s', 'TOKEN')).toBe(VALUE);
      await rotated.put('s', 'TOKEN', VALUE);
      expect(await store.vault(keyOf(2)).get('s', 'TOKEN')).toBe(VALUE);
    });
  });
}
