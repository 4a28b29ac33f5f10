/**
 * The gateway of an example as a process of its own, with its ledger.
 * Owns its start on a free port and its end; the test decides what its programs know of it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { listeningAt } from '../scripted-gateway/started-gateway.ts';
import type { BatchCopy } from './batch-copy.ts';
import { LEDGER } from './ledger.ts';

export interface ScriptedGateway {
  readonly pid: number;
  readonly url: string;
  /** What `parley run` needs to know of it. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Resolves when it listens; it bills calls with `key`. */
export async function startScriptedGateway(copy: BatchCopy, key: string): Promise<ScriptedGateway> {
  const args = [path.join(copy.root, 'dist/scripted-gateway.js'), 'gateway.yaml', '--ledger', LEDGER];
  const child = spawn(process.execPath, args, {
    cwd: copy.example,
    env: { ...copy.env, PARLEY_GATEWAY_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const url = await listeningAt(child.stdout);
  return {
    pid: child.pid ?? 0,
    url,
    env: {
      PARLEY_CONFIG: 'parley.yaml',
      PARLEY_GATEWAY_URL: `${url}/v1`,
      PARLEY_GATEWAY_KEY: key,
      PARLEY_GATEWAY_EXPORT: `${url}/spend/export`,
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
