/**
 * The parts of a batch that outlive a killed run: its repositories and its gateway.
 * Owns the same preparations as the example's own program, as separate processes.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { BatchCopy } from './batch-copy.ts';
import { LEDGER } from './ledger.ts';

const KEY = 'sk-end-to-end';

export interface BatchGateway {
  readonly pid: number;
  /** What `parley run` needs to know of it. */
  readonly env: Readonly<Record<string, string>>;
  /** A call that no conversation made, billed to the same key. */
  callFromOutside(): Promise<void>;
  stop(): Promise<void>;
}

/** Makes the repositories, starts the gateway on a free port, and waits until it listens. */
export async function openGateway(copy: BatchCopy): Promise<BatchGateway> {
  mkdirSync(copy.dataDir, { recursive: true });
  const repositories = [path.join(copy.example, 'repositories.js'), path.join(copy.dataDir, 'repos')];
  execFileSync(process.execPath, repositories, { env: copy.env, stdio: ['ignore', 'ignore', 'inherit'] });
  const args = [path.join(copy.root, 'dist/scripted-gateway.js'), 'gateway.yaml', '--ledger', LEDGER];
  const child = spawn(process.execPath, args, {
    cwd: copy.example,
    env: { ...copy.env, PARLEY_GATEWAY_KEY: KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url } = JSON.parse(line) as { readonly url: string };
  return {
    pid: child.pid ?? 0,
    env: {
      PARLEY_CONFIG: 'parley.yaml',
      PARLEY_GATEWAY_URL: `${url}/v1`,
      PARLEY_GATEWAY_KEY: KEY,
      PARLEY_MODEL: 'openai/acme/coder-1',
      PARLEY_GATEWAY_EXPORT: `${url}/spend/export`,
    },
    callFromOutside: () => callFromOutside(url),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function callFromOutside(url: string): Promise<void> {
  const content = 'Add an ES module entry to this package';
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'acme/coder-1', messages: [{ role: 'user', content }] }),
  });
  await response.text();
  if (!response.ok) throw new Error(`the gateway answered ${response.status}`);
}
