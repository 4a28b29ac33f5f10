/**
 * The warm pool as a test sees it: read from the store, beside the program that keeps it.
 * Owns the opened store until the test is over; must not change anything.
 */
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { SandboxId } from '../../core/ids.ts';
import { openStore } from '../../store/open-store.ts';
import { eventually } from '../api/service.ts';

export interface WarmBeside {
  /** Ready ones, in the order in which they are claimed: the oldest first. */
  ready(): Promise<readonly SandboxId[]>;
  /** Ready ones when there are `size` of them, and none of these. */
  filled(size: number, without?: readonly SandboxId[]): Promise<readonly SandboxId[]>;
}

/** @throws Error there is no database in `dataDir` yet */
export async function openWarmBeside(dataDir: string): Promise<WarmBeside> {
  const store = await openStore({ kind: 'sqlite', path: path.join(dataDir, 'parley.db'), readOnly: true });
  onTestFinished(() => store.close());
  const ready = async (): Promise<readonly SandboxId[]> =>
    (await store.warmPool.held())
      .filter(({ state }) => state === 'ready')
      .sort((a, b) => (a.bootedAt ?? 0) - (b.bootedAt ?? 0) || (a.sandboxId < b.sandboxId ? -1 : 1))
      .map((one) => one.sandboxId);
  return {
    ready,
    filled: (size, without = []) =>
      eventually(ready, (ids) => ids.length === size && ids.every((id) => !without.includes(id))),
  };
}
