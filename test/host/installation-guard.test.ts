/**
 * What a database is used with: a data directory, unless sandboxes are pods, which every host reaches, or have a host of
 * their own and files in a bucket.
 */
import { expect, it } from 'vitest';
import { requireOwnInstallation, takeInstallation } from '../../host/engines/engine-guard.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { sandboxId } from '../../core/ids.ts';
import type { Installation } from '../../store/engine/installation.ts';

type Used = Parameters<typeof requireOwnInstallation>[0];
const BUCKET = { bucket: 'parley' } as Used['bucket'];

it.each([
  ['process', 'embedded', null, '/data'],
  ['process', 'embedded', BUCKET, '/data'],
  ['docker', 'temporal', null, '/data'],
  ['process', 'temporal', BUCKET, null],
  ['docker', 'temporal', BUCKET, null],
  ['kubernetes', 'embedded', null, null],
  ['kubernetes', 'temporal', null, null],
] as const)('of sandboxes by %s on the engine %s, bucket %j, is %s', async (...given) => {
  const [runtimeKind, kind, bucket, dataDir] = given;
  const claimed: Parameters<Installation['claim']>[0][] = [];
  const installation: Installation = {
    claim: (used) => {
      claimed.push(used);
      return Promise.resolve();
    },
    move: () => Promise.reject(new Error('nobody moves')),
  };
  const sealKey = { id: 'seal' } as Parameters<typeof requireOwnInstallation>[2];
  const engine = { kind } as Used['engine'];
  const used = { engine, bucket, dataDir: '/data', runtimeKind };
  const postgres = { kind: 'postgres' } as Parameters<typeof requireOwnInstallation>[0]['store'];
  await requireOwnInstallation({ ...used, store: postgres }, { installation }, sealKey);
  await requireOwnInstallation({ ...used, store: { kind: 'sqlite' } }, { installation }, sealKey);
  expect(claimed).toEqual([{ sealKeyId: 'seal', dataDir }]);
});

const LIVE = sandboxId('a'.repeat(32));

it.each([
  ['moves with a bucket and without a sandbox', BUCKET, null, ['/data']],
  ['stays while a sandbox lives', BUCKET, LIVE, []],
  ['stays where archives are files of it', null, null, []],
] as const)('of an engine that is alone %s', async (_name, bucket, live, moved) => {
  const moves: string[] = [];
  const other = new ParleyError('engine_misconfigured', 'another one', {
    details: { data_directory: '/data' },
  });
  const installation: Installation = {
    claim: () => Promise.reject(other),
    move: (dataDir) => Promise.resolve(void moves.push(dataDir)),
  };
  const search = { liveSandboxes: () => Promise.resolve({ embedded: live, elsewhere: null }) };
  const store = { installation, search } as unknown as Parameters<typeof takeInstallation>[1];
  const config = {
    ...({ dataDir: '/data', runtimeKind: 'process', bucket } as const),
    engine: { kind: 'embedded' } as Used['engine'],
    store: { kind: 'postgres' } as Parameters<typeof takeInstallation>[0]['store'],
  };
  const sealKey = { id: 'seal' } as Parameters<typeof takeInstallation>[2];
  const taking = takeInstallation(config, store, sealKey);
  if (moved.length > 0) await taking;
  else await expect(taking).rejects.toBe(other);
  expect(moves).toEqual(moved);
});
