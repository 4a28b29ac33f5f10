/**
 * A worker on Temporal with `parley serve` beside it, both of one configuration file and one data directory.
 * Owns the processes and the gateway behind the proxy of the worker; must not assert.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { freePort } from '../../loopback/free-port.ts';
import { serve, type Served } from '../api/served.ts';
import { eventually } from '../api/service.ts';
import { PARLEY } from '../cli/parley-program.ts';
import { endProcess } from '../helpers/end-process.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { entryFor, GATEWAY_KEY, MASTER_KEY, send } from '../proxy/proxy-under-test.ts';
import { startStubGateway, type SeenRequest } from '../proxy/stub-gateway.ts';

export interface FollowedWorker {
  /** The configuration that both follow. */
  readonly file: string;
  readonly config: string;
  readonly served: Served;
  /** What the worker has printed so far. */
  notices(): string;
  /** Resolves when it has printed that. @throws Error with all it has printed when it never does */
  said(text: string): Promise<void>;
  /** One call through the proxy of the worker, as it came to the gateway. */
  callModel(): Promise<SeenRequest>;
  /** Ends both; exit codes of worker and API. */
  end(): Promise<readonly (number | null)[]>;
}

export async function startFollowedWorker(): Promise<FollowedWorker> {
  const folder = tempDir();
  const file = path.join(folder, 'parley.yaml');
  const server = await startServerForTests();
  onTestFinished(() => server.stop());
  const gateway = await startStubGateway();
  const port = await freePort();
  const config = [
    `engine: { kind: temporal, address: "${server.address}" }`,
    'store: { path: data }',
    'runtime: { isolation: none }',
    `proxy: { port: ${port} }`,
    'limits: { idle_time: 600 }',
    `proxy_config: { model_list: [${JSON.stringify(entryFor(gateway.origin, { api_key: 'os.environ/VENDOR_KEY' }))}] }`,
    '',
  ].join('\n');
  writeFileSync(file, config);
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PARLEY_'));
  const env = { PROXY_MASTER_KEY: MASTER_KEY, VENDOR_KEY: GATEWAY_KEY };
  const child = spawn(process.execPath, [PARLEY, 'worker', '--config', 'parley.yaml', '--json'], {
    ...{ cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { ...Object.fromEntries(inherited), ...env },
  });
  onTestFinished(() => endProcess(child));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  let told = '';
  child.stderr.on('data', (text: Buffer) => (told += text.toString()));
  const serving = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('"type":"worker"')) resolve();
    });
  });
  await Promise.race([serving, exited.then(() => Promise.reject(new Error(`the worker ended: ${told}`)))]);
  const served = await serve(folder, { config, env });
  return {
    ...{ file, config, served },
    notices: () => told,
    async said(text) {
      await eventually(
        () => Promise.resolve(told),
        (all) => all.includes(text),
      );
    },
    async callModel() {
      const count = gateway.seen.length + 1;
      const url = `http://127.0.0.1:${port}`;
      await send({ url, key: MASTER_KEY, body: '{"model":"coder","messages":[]}' });
      await gateway.arrival(count);
      return gateway.seen[count - 1] as SeenRequest;
    },
    async end() {
      const ended = await served.end('SIGTERM');
      child.kill('SIGTERM');
      return [(await exited)[0], ended];
    },
  };
}
