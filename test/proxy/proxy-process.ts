/**
 * `parley proxy` as a real process with its own folder, for tests of its life.
 * Owns start, output and end; a test writes the configuration.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { PARLEY } from '../cli/parley-program.ts';
import type { SpendRow } from '../../core/money/spend.ts';
import { endProcess } from '../helpers/end-process.ts';
import { entryFor, GATEWAY_KEY, MASTER_KEY, send } from './proxy-under-test.ts';

export interface ProxyProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** Lines of standard error so far. */
  readonly logged: string[];
  /** Resolves when a line of standard error contains the text. */
  said(text: string): Promise<void>;
  /** Sends the signal and resolves with the exit code; null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Every spend row, in order. */
  rows(): Promise<readonly SpendRow[]>;
}

/** JSON is YAML; `names` become entries that lead to the gateway at `origin`. */
export function writeConfig(
  folder: string,
  config: { readonly origin: string; readonly names: readonly string[]; readonly extra?: object },
): string {
  const file = path.join(folder, 'parley.yaml');
  const params = { api_key: 'os.environ/TEST_GATEWAY_KEY' };
  const model_list = config.names.map((name) => ({ ...entryFor(config.origin, params), model_name: name }));
  writeFileSync(file, JSON.stringify({ proxy_config: { model_list, ...config.extra } }, null, 2));
  return file;
}

export async function startProxyProcess(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ProxyProcess> {
  const args = [PARLEY, 'proxy', '--config', path.join(folder, 'parley.yaml'), '--port', '0'];
  const own = {
    PROXY_MASTER_KEY: MASTER_KEY,
    TEST_GATEWAY_KEY: GATEWAY_KEY,
    PARLEY_LOG_LEVEL: 'info',
    ...env,
  };
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, ...own } });
  onTestFinished(() => endProcess(child));
  const logged: string[] = [];
  const waiting: { text: string; resolve: () => void }[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    logged.push(line);
    for (const one of waiting.filter(({ text }) => line.includes(text))) one.resolve();
  });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  const first = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>,
    ended.then(() => [`it ended: ${logged.join('\n')}`]),
  ]);
  const url = (first[0] ?? '').replace('listening on ', '');
  return {
    child,
    url,
    logged,
    said: (text) =>
      logged.some((line) => line.includes(text))
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ text, resolve })),
    async end(signal) {
      child.kill(signal);
      return (await ended)[0];
    },
    async rows() {
      const { body } = await send({ url, path: '/spend/logs', method: 'GET', key: MASTER_KEY });
      return body
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as SpendRow);
    },
  };
}
