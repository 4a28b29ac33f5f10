/** `parley serve` on PostgreSQL: a life, a killed process, connections that are cut, and what must not be opened. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startPostgres, type PostgresServerProcess } from '../../scripts/postgres-server.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { KILLED_CALLS, killOnce, Mortal } from './killed-calls.ts';
import { PLAIN, serve } from './served.ts';
import { walkServed } from './served-walk.ts';

const ALL_MS_MAX = 600_000;
/** Often enough to meet every stage of a life, and rarely enough that something is done in between. */
const CUT_EVERY_MS = 2_500;
const CONFIG = `${PLAIN}store: { kind: postgres, url: os.environ/TEST_DATABASE }\n`;

describeWith('postgres', 'parley serve on PostgreSQL', () => {
  let server: PostgresServerProcess;
  beforeAll(async () => {
    server = await startPostgres();
  }, ALL_MS_MAX);
  afterAll(() => server.close());

  let databases = 0;
  /** A configuration for `serve`, over a new database. */
  async function onNewDatabase() {
    databases += 1;
    const database = `served_${databases}`;
    const env = { TEST_DATABASE: await server.createDatabase(database) };
    return { database, options: { config: CONFIG, env } };
  }

  it(
    'lives a life from start to deletion, and keeps no database of its own',
    async () => {
      const { options } = await onNewDatabase();
      const folder = tempDir();
      const served = await serve(folder, options);
      const { frames } = await walkServed(served, served.key ?? '');
      expect(frames.join('')).toMatch(/first[\s\S]*second[\s\S]*third[\s\S]*event: deleted/);
      expect(await served.end('SIGTERM'), served.notices()).toBe(0);
      expect(existsSync(path.join(folder, 'data', 'parley.db'))).toBe(false);
      expect(served.notices()).not.toContain(server.password);
    },
    ALL_MS_MAX,
  );

  it.each([
    ['start', 3],
    ['message', -3],
    ['delete', 2],
  ] as const)(
    'loses nothing when it is killed beside a commit of %s (%i)',
    async (name, point) => {
      const { options } = await onNewDatabase();
      const service = new Mortal(tempDir(), options);
      await service.begin();
      const call = KILLED_CALLS[name];
      expect(call !== undefined && (await killOnce(service, call, point))).toBe(true);
      await service.end();
    },
    ALL_MS_MAX,
  );

  it(
    'lives on while the server ends its connections, the one of the guard among them',
    async () => {
      const { database, options } = await onNewDatabase();
      const served = await serve(tempDir(), options);
      let cut = 0;
      const cutter = setInterval(() => {
        void server
          .run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`)
          .then(({ length }) => (cut += length));
      }, CUT_EVERY_MS);
      onTestFinished(() => clearInterval(cutter));
      const { frames } = await walkServed(served, served.key ?? '');
      clearInterval(cutter);
      expect(cut).toBeGreaterThan(0);
      expect(frames.join('')).toMatch(/first[\s\S]*second[\s\S]*third[\s\S]*event: deleted/);
      expect(await served.end('SIGTERM'), served.notices()).toBe(0);
    },
    ALL_MS_MAX,
  );

  it(
    'has its database alone',
    async () => {
      const { options } = await onNewDatabase();
      const served = await serve(tempDir(), options);
      await expect(serve(tempDir(), options)).rejects.toThrow(
        /Cannot use the database "served_\d+" at 127\.0\.0\.1:\d+: an engine on 127\.0\.0\.1 has it since/,
      );
      expect(await served.end('SIGTERM'), served.notices()).toBe(0);
    },
    ALL_MS_MAX,
  );
});
