/** Versions of the configuration that several processes share. Owns no dialect. */
import { describe, expect, it } from 'vitest';
import type { OpenEmptyStore } from './store-harness.ts';

export function configurationSuite(open: OpenEmptyStore): void {
  describe('the shared configuration', () => {
    it('is one version after another, of which the newest and earlier ones are read', async () => {
      const { configuration } = await open();
      expect(await configuration.newest()).toBeNull();
      expect(await configuration.put({ version: 2, text: 'too early' }, 1)).toBe(false);
      for (let version = 1; version <= 102; version += 1)
        expect(await configuration.put({ version, text: `text ${version}` }, version)).toBe(true);
      expect(await configuration.put({ version: 102, text: 'too late' }, 1)).toBe(false);
      expect(await configuration.newest()).toEqual({ version: 102, text: 'text 102' });
      expect(await configuration.newest(102)).toEqual({ version: 101, text: 'text 101' });
      expect(await configuration.newest(3)).toBeNull();
    });

    it('has one winner, however many write the next version at once', async () => {
      const { configuration } = await open();
      for (let version = 1; version <= 5; version += 1) {
        const writes = Array.from({ length: 8 }, (_, number) =>
          configuration.put({ version, text: `of ${number}` }, 1),
        );
        expect((await Promise.all(writes)).filter(Boolean)).toHaveLength(1);
      }
      expect((await configuration.newest())?.version).toBe(5);
    });

    it('is told with each beat, and who serves says what it has of it', async () => {
      const { configuration, proxyPeers } = await open();
      await proxyPeers.join('a', 600_000, { kind: 'api', name: 'one' });
      expect(await proxyPeers.join('b', 600_000, { kind: 'worker', name: 'two' })).toBe(true);
      expect((await proxyPeers.beat('a', 600_000, [])).configuration).toBe(0);
      await configuration.put({ version: 1, text: '' }, 1);
      const refused = { version: null, refused: 'no such variable' };
      await proxyPeers.beat('b', 600_000, [], refused);
      const has = { version: 1, refused: null };
      expect((await proxyPeers.beat('a', 600_000, [], has)).configuration).toBe(1);
      expect(await proxyPeers.serving()).toMatchObject([
        { kind: 'api', configuration: has },
        { kind: 'worker', configuration: refused },
      ]);
    });
  });
}
