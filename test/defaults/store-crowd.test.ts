/**
 * A store of PostgreSQL on its defaults, under a crowd larger than they are and a lock that is held longer than a
 * statement may take.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SETTINGS } from '../../host/config/settings.ts';
import { startPostgres, type PostgresServerProcess } from '../../scripts/postgres-server.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { parsePostgresUrl } from '../../store/sql/postgres-address.ts';
import { createPostgresPool } from '../../store/sql/postgres-pool.ts';
import { runId } from '../../core/ids.ts';
import type { ParleyError } from '../../core/parley-error.ts';
import { SECOND_MS } from '../../core/time.ts';
import { demoPlan } from '../cli/rows.ts';
import { describeWith } from '../helpers/requires.ts';

const CLIENTS = 60;
const LOCKED_MS_MAX = 90_000;

function defaultOf(path: 'store.pool' | 'store.statement_timeout'): number {
  return Number(SETTINGS.find((setting) => setting.path === path)?.fallback);
}

describeWith('postgres', 'a store on defaults', () => {
  let server: PostgresServerProcess;
  let store: Store;

  const poolOf = (name: string) =>
    createPostgresPool(
      {
        address: parsePostgresUrl(server.url('postgres')),
        poolMax: defaultOf('store.pool'),
        statementTimeoutMs: defaultOf('store.statement_timeout') * SECOND_MS,
        tls: null,
        schema: null,
      },
      { readOnly: false, name },
    );

  beforeAll(async () => {
    server = await startPostgres({ settings: { log_min_messages: 'fatal' } });
    store = await openStore({ kind: 'postgres', pool: poolOf('crowd') });
  });
  afterAll(async () => {
    await store.close();
    await server.close();
  });

  it('serves more clients than connections', async () => {
    expect(CLIENTS).toBeGreaterThan(defaultOf('store.pool'));
    const ids = Array.from({ length: CLIENTS }, (_, index) => runId(`run-${index}`));
    await Promise.all(ids.map((id) => store.plans.putPlan(id, demoPlan())));
    const plans = await Promise.all(ids.map((id) => store.plans.plan(id)));
    expect(plans.map((plan) => plan?.hash)).toEqual(ids.map(() => demoPlan().hash));
  });

  it(
    'gives up a statement that hangs, says what to do, and goes on',
    { timeout: LOCKED_MS_MAX },
    async () => {
      const seconds = defaultOf('store.statement_timeout') + 5;
      const held = server.run(
        `begin; lock table plan in access exclusive mode; select pg_sleep(${seconds}); commit`,
      );
      await expect
        .poll(() => server.run("select 1 from pg_locks where mode = 'AccessExclusiveLock' and granted"))
        .not.toEqual([]);
      const refused: unknown = await store.plans.plan(runId('run-0')).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'store_unavailable' });
      expect((refused as ParleyError).remedy).toMatch(/pg_stat_activity.*store\.statement_timeout/);
      await held;
      expect(await store.plans.plan(runId('run-0'))).not.toBeNull();
    },
  );
});
