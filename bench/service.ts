/**
 * `parley serve` as it is shipped, for what is measured or harmed from outside.
 * Owns its start, its end and calls of its API; callers decide what is configured and requested.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { end } from '../scripts/own-process.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- every answer has another shape
export type Answer = any;

/** One call of the API, its answer read as JSON. @throws Error anything but a success */
export type Ask = (method: 'GET' | 'POST' | 'DELETE', route: string, body?: object) => Promise<Answer>;

export interface Service {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ask: Ask;
  end(): Promise<void>;
}

/** A start or a deletion under load takes minutes at the most. */
const PATIENCE_MS = 600_000;

/** In `folder`, whose `data` is the data directory. */
export async function startService(folder: string, config: string, env = {}): Promise<Service> {
  writeFileSync(path.join(folder, 'parley.yaml'), config);
  const args = ['serve', '--config', 'parley.yaml', '--port', '0', '--data', 'data', '--json'];
  const child = spawn(process.execPath, [path.resolve('bin/parley.js'), ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const api = apiOf(await recordOf(child, 'serving'));
  return { ...api, end: () => end(child, 'SIGTERM', PATIENCE_MS) };
}

/** What calls need, from the record that a service prints when it serves. */
export function apiOf({ url = '', key = '' }: ServiceRecord): Pick<Service, 'url' | 'headers' | 'ask'> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return {
    ...{ url, headers },
    async ask(method, route, body) {
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const response = await fetch(`${url}${route}`, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${route}: ${response.status} ${text.slice(0, 300)}`);
      return text === '' ? null : JSON.parse(text);
    },
  };
}

type ServiceRecord = Readonly<Record<string, string | undefined>>;

/** The first record of that type that a program prints. @throws Error it ended before */
export async function recordOf({ stdout, stderr }: ChildProcess, type: string): Promise<ServiceRecord> {
  let said = '';
  stderr?.on('data', (text: Buffer) => (said = `${said}${text}`.slice(-2_000)));
  for await (const line of createInterface({ input: stdout! })) {
    const record = JSON.parse(line) as ServiceRecord;
    if (record['type'] !== type) continue;
    // Discards further output, because a full pipe would block the program.
    stdout?.resume();
    return record;
  }
  throw new Error(`it ended before it was ${type}: ${said}`);
}
