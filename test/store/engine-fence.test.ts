/** Two engines over one database, whatever became of their locks: the later one has it, and the earlier stores nothing more. */
import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ParleyError } from '../../core/parley-error.ts';
import type { FenceOptions } from '../../store/engine/engine-fence.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { emptyServer, pglitePool } from '../contract/store-pglite.ts';
import { batch, spendRow } from '../contract/store-rows.ts';
import { started } from '../engine/engine-harness.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const TAKEN_OVER = {
  code: 'data_directory_locked',
  message: 'Cannot store anything more: another engine has taken the database over',
  remedy: expect.stringContaining('let one engine use it'),
};

type Open = (fence?: FenceOptions) => Promise<Store>;

const accepted = (inboxId: string) =>
  batch({ inboxAdded: [{ inboxId, to: started(1).to, event: { type: 'deadline' }, acceptedAt: 1 }] });

function fencedEngines(newDatabase: () => Promise<Open>): void {
  it('gives the database to the later one', async () => {
    const open = await newDatabase();
    const lost: ParleyError[] = [];
    const earlier = await open({ onLost: (error) => void lost.push(error) });
    await earlier.engine.commit(accepted('a'));
    const later = await open({ onLost: (error) => void lost.push(error) });
    const refused = [earlier.engine.commit(accepted('b')), earlier.spend.write([spendRow('b')])];
    for (const outcome of await Promise.allSettled(refused))
      expect(outcome).toMatchObject({ status: 'rejected', reason: TAKEN_OVER });
    await expect(earlier.engine.commit(accepted('c'))).rejects.toMatchObject(TAKEN_OVER);
    expect(lost).toHaveLength(1);
    await later.engine.commit(accepted('d'));
    expect((await later.engine.inbox()).map(({ inboxId }) => inboxId)).toEqual(['a', 'd']);
    expect(await later.spend.search({})).toEqual([]);
  });

  it('lets those write who are no engine', async () => {
    const open = await newDatabase();
    const engine = await open({ onLost: () => undefined });
    const beside = await open();
    await beside.spend.write([spendRow('a')]);
    await engine.spend.write([spendRow('b')]);
    expect(await beside.spend.search({})).toHaveLength(2);
  });

  it('is raised by every engine that begins, also by the same one again', async () => {
    const open = await newDatabase();
    for (let life = 0; life < 3; life += 1) {
      const engine = await open({ onLost: () => undefined });
      await engine.engine.commit(accepted(`life ${life}`));
    }
    expect(await (await open()).engine.inbox()).toHaveLength(3);
  });
}

/** A commit that only the log holds, and a database without it: as after a copy that took the one file. */
async function cutOff(folder: string): Promise<string> {
  const [file, bare] = [path.join(folder, 'parley.db'), path.join(folder, 'bare.db')];
  await (await openStore({ kind: 'sqlite', path: file })).close();
  const engine = await openStore({ kind: 'sqlite', path: file, fence: { onLost, noteIn: folder } });
  onTestFinished(() => engine.close());
  copyFileSync(file, bare);
  return bare;
}
const onLost = (): void => undefined;

describe('a database that lost its log', () => {
  it('is told by who opens it as an engine, and not a second time', async () => {
    const folder = tempDir();
    const bare = await cutOff(folder);
    const told: string[] = [];
    for (const life of ['first', 'second']) {
      const onOlder = (): void => void told.push(life);
      const store = await openStore({
        kind: 'sqlite',
        path: bare,
        fence: { onLost, noteIn: folder, onOlder },
      });
      await store.engine.commit(accepted(life));
      await store.close();
    }
    expect(told).toEqual(['first']);
  });

  it('is the same as one that was never stored in, where nobody noted anything', async () => {
    const told: string[] = [];
    const onOlder = (): void => void told.push('older');
    const file = path.join(tempDir(), 'parley.db');
    const fence = { onLost, noteIn: path.dirname(file), onOlder };
    for (let life = 0; life < 2; life += 1)
      await (await openStore({ kind: 'sqlite', path: file, fence })).close();
    expect(told).toEqual([]);
  });
});

describe('the fence of an engine on SQLite', () => {
  fencedEngines(() => {
    const file = path.join(tempDir(), 'parley.db');
    return Promise.resolve(async (fence) => {
      const store = await openStore({ kind: 'sqlite', path: file, fence });
      onTestFinished(() => store.close());
      return store;
    });
  });
});

describe('the fence of an engine on PostgreSQL', () => {
  let server: PGlite;
  beforeAll(async () => {
    server = await PGlite.create();
  });
  afterAll(() => server.close());

  fencedEngines(async () => {
    await emptyServer(server);
    return async (fence) => {
      const store = await openStore({ kind: 'postgres', pool: pglitePool(server), fence });
      onTestFinished(() => store.close());
      return store;
    };
  });
});
