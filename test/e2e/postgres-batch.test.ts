/**
 * The first batch with its records on a real PostgreSQL server: the same report as on SQLite, and no database of its own.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPostgres, type PostgresServerProcess } from '../../scripts/postgres-server.ts';
import { describeWith } from '../helpers/requires.ts';
import { runWholeBatch, type WholeBatch } from './whole-batch.ts';

/** A server and two batches. */
const START_MS_MAX = 600_000;

describeWith('postgres', 'the first batch on PostgreSQL', () => {
  const batches: WholeBatch[] = [];
  let server: PostgresServerProcess;
  let onServer: WholeBatch;
  let onFile: WholeBatch;
  beforeAll(async () => {
    server = await startPostgres();
    const url = await server.createDatabase('first_batch');
    onServer = await runWholeBatch({ PARLEY_STORE: 'postgres', PARLEY_DATABASE_URL: url });
    batches.push(onServer);
    onFile = await runWholeBatch({});
    batches.push(onFile);
  }, START_MS_MAX);
  afterAll(async () => {
    for (const { copy } of batches) copy.close();
    await server.close();
  });

  it('tells the same as on SQLite, record for record', () => {
    expect(onServer.report).toEqual(onFile.report);
  });

  it('writes no database beside it, and says nothing of the password', () => {
    const database = ({ copy }: WholeBatch): boolean => existsSync(path.join(copy.dataDir, 'parley.db'));
    expect([database(onServer), database(onFile)]).toEqual([false, true]);
    expect(onServer.end.stdout + onServer.end.stderr).not.toContain(server.password);
  });
});
