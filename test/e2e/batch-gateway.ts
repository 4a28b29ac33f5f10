/**
 * The parts of a batch that outlive a killed run: its repositories and its gateway.
 * Owns the same preparations as the example's own program, as separate processes.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { BatchCopy } from './batch-copy.ts';
import { startScriptedGateway, type ScriptedGateway } from './scripted-gateway.ts';

const KEY = 'sk-end-to-end';

export interface BatchGateway extends Omit<ScriptedGateway, 'url'> {
  /** A call that no conversation made, billed to the same key. */
  callFromOutside(): Promise<void>;
}

/** Makes the repositories, starts the gateway on a free port, and waits until it listens. */
export async function openGateway(copy: BatchCopy): Promise<BatchGateway> {
  mkdirSync(copy.dataDir, { recursive: true });
  const repositories = [path.join(copy.example, 'repositories.js'), path.join(copy.dataDir, 'repos')];
  execFileSync(process.execPath, repositories, { env: copy.env, stdio: ['ignore', 'ignore', 'inherit'] });
  const gateway = await startScriptedGateway(copy, KEY);
  return {
    pid: gateway.pid,
    env: { ...gateway.env, PARLEY_MODEL: 'openai/acme/coder-1' },
    callFromOutside: () => callFromOutside(gateway.url),
    stop: () => gateway.stop(),
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
