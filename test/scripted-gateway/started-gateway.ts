/** The scripted gateway as a process of its own. Owns its start, and its end by what `atEnd` is given. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { ROOT } from '../cli/parley-program.ts';
import { endProcess, type AtEnd } from '../helpers/end-process.ts';

/** Its address, when it listens. `env` is beyond the environment of the tests. */
export async function startScriptedGateway(
  script: string,
  atEnd: AtEnd,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn(process.execPath, [path.join(ROOT, 'dist/scripted-gateway.js'), script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  atEnd(() => endProcess(child));
  return await listeningAt(child.stdout);
}

/** Its address, once it says it. @throws Error when it ends before */
export async function listeningAt(stdout: Readable): Promise<string> {
  for await (const line of createInterface({ input: stdout }))
    return (JSON.parse(line) as { readonly url: string }).url;
  throw new Error('the gateway ended before it listened');
}
