/** A data directory belongs to the engine whose sandboxes live in it. */
import { expect, it, onTestFinished } from 'vitest';
import { requireOwnSandboxes } from '../../host/engines/engine-guard.ts';
import type { SandboxRow } from '../../core/machine/projection.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { sandboxNumber, sandboxRow } from '../contract/store-rows.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const ID = sandboxNumber(1);

/** `entity`: what the embedded engine keeps of it; null for nothing. */
async function storeWith(
  row: Partial<SandboxRow>,
  entity: { readonly done: boolean } | null,
): Promise<Store> {
  const store = await openStore({ kind: 'sqlite', path: `${tempDir()}/parley.db` });
  onTestFinished(() => store.close());
  const address = { machine: 'sandbox', id: ID } as const;
  await store.engine.commit({
    entities: entity === null ? [] : [{ address, state: {}, deadline: null, done: entity.done }],
    outboxAdded: [],
    outboxRetried: [],
    outboxRemoved: [],
    inboxAdded: [],
    inboxRemoved: [],
    projections: [sandboxRow(ID, row)],
  });
  return store;
}

it.each([
  ['embedded', 'temporal', null],
  ['temporal', 'embedded', { done: false }],
] as const)('is refused to %s while a sandbox of %s lives', async (kind, begunOn, entity) => {
  for (const status of ['STARTING', 'RUNNING', 'PAUSED'] as const) {
    const store = await storeWith({ status, generation: 1 }, entity);
    await expect(requireOwnSandboxes(store, kind)).rejects.toMatchObject({
      code: 'engine_misconfigured',
      message: `Cannot use the sandbox "${ID}" on the engine "${kind}": it was begun on "${begunOn}"`,
      remedy: expect.stringContaining(`--engine ${begunOn}`),
    });
    await requireOwnSandboxes(store, begunOn);
  }
});

it.each([
  ['has ended', { status: 'MISSING', generation: 1 }, { done: true }],
  ['has ended on an engine that forgot it', { status: 'MISSING', generation: 1 }, null],
  ['was never made', { status: 'STARTING', generation: 0 }, null],
] as const)('is free for both engines when its sandbox %s', async (_, row, entity) => {
  const store = await storeWith(row, entity);
  await requireOwnSandboxes(store, 'embedded');
  await requireOwnSandboxes(store, 'temporal');
});

it('is free for both when it is empty', async () => {
  const store = await openStore({ kind: 'sqlite', path: `${tempDir()}/parley.db` });
  onTestFinished(() => store.close());
  await requireOwnSandboxes(store, 'embedded');
  await requireOwnSandboxes(store, 'temporal');
});
