/**
 * Several `parley serve --no-worker` over one PostgreSQL and one Temporal server, with a worker or without one.
 * Owns what they share: the database, the server, and the folder that a database is claimed by; must not assert.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { startPostgres, type PostgresServerProcess } from '../../scripts/postgres-server.ts';
import { PARLEY } from '../cli/parley-program.ts';
import { endProcess } from '../helpers/end-process.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { PLAIN, serve, type Served } from './served.ts';
import { eventually } from './service.ts';

const DATABASE = 'several';
const READY = /Ctrl-C ends it/;

export interface SeveralServices {
  readonly folder: string;
  readonly database: PostgresServerProcess;
  /** What they print once: the same for all. */
  readonly key: string;
  readonly services: readonly Served[];
  begin(): Promise<Served>;
  /** Resolves when it asks for work. */
  beginWorker(): Promise<ChildProcess>;
  /** The rows that a statement gives. */
  run(sql: string): Promise<readonly Record<string, unknown>[]>;
}

export interface SharedOptions {
  readonly count: number;
  /** Lines of parley.yaml beyond engine and store. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** All end with the test. */
export async function openSeveralServices({
  count,
  config = PLAIN,
  env: more = {},
}: SharedOptions): Promise<SeveralServices> {
  const [database, temporal] = await Promise.all([startPostgres(), startServerForTests()]);
  onTestFinished(() => database.close());
  onTestFinished(() => temporal.stop());
  const folder = tempDir();
  const env = { ...more, TEST_DATABASE: await database.createDatabase(DATABASE) };
  const shared = `${config}engine: { kind: temporal, address: "${temporal.address}" }
store: { kind: postgres, url: os.environ/TEST_DATABASE }
`;
  const begin = (): Promise<Served> => serve(folder, { config: shared, env, args: ['--no-worker'] });
  const first = await begin();
  const services = [first];
  while (services.length < count) services.push(await begin());
  return {
    ...{ folder, database, services, begin, key: first.key ?? '' },
    beginWorker: () => beginWorker(folder, env),
    run: (sql) => database.run(sql, DATABASE),
  };
}

async function beginWorker(folder: string, env: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PARLEY, 'worker', '--config', 'parley.yaml'], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      NO_COLOR: '1',
      PARLEY_DATA_DIR: path.join(folder, 'data'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => endProcess(child));
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (said += text.toString()));
  await eventually(
    () => Promise.resolve(said),
    (text) => {
      if (child.exitCode !== null) throw new Error(`the worker ended: ${text}`);
      return READY.test(text);
    },
  );
  return child;
}
