/** What a database is used with: a data directory, unless sandboxes are pods, which every host reaches. */
import { expect, it } from 'vitest';
import { requireOwnInstallation } from '../../host/engines/engine-guard.ts';
import type { Installation } from '../../store/engine/installation.ts';

it.each([
  ['process', '/data'],
  ['docker', '/data'],
  ['kubernetes', null],
] as const)('of sandboxes by %s is %s', async (runtimeKind, dataDir) => {
  const claimed: Parameters<Installation['claim']>[0][] = [];
  const installation: Installation = {
    claim: (used) => {
      claimed.push(used);
      return Promise.resolve();
    },
  };
  const sealKey = { id: 'seal' } as Parameters<typeof requireOwnInstallation>[2];
  const used = { dataDir: '/data', runtimeKind };
  const postgres = { kind: 'postgres' } as Parameters<typeof requireOwnInstallation>[0]['store'];
  await requireOwnInstallation({ ...used, store: postgres }, { installation }, sealKey);
  await requireOwnInstallation({ ...used, store: { kind: 'sqlite' } }, { installation }, sealKey);
  expect(claimed).toEqual([{ sealKeyId: 'seal', dataDir }]);
});
