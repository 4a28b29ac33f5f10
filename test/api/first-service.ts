/**
 * What a new user has: the files of `parley init`, three variables, and `parley serve`; the vendor is the scripted gateway.
 * Owns the set-up; must not assert.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { parley } from '../cli/parley-program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startScriptedGateway } from '../scripted-gateway/started-gateway.ts';
import { serve, type Served } from './served.ts';

/** `dataDir` is where its sockets have their names from. */
export interface FirstServed extends Served {
  readonly dataDir: string;
}

const MODEL = 'acme/coder-1';
/** Writes a file, and says so. */
const SCRIPT = `kind: gateway-script
version: 1
keys: [{ key: os.environ/PARLEY_GATEWAY_KEY, name: first }]
models: { ${MODEL}: { input: '3', output: '15' } }
scripts:
  - name: any
    turns:
      - { say: I write it., tool: terminal, arguments: { command: echo hello > hello.txt } }
`;

/** `more` is appended to the configuration that `init` wrote. */
export async function serveFirst(more = ''): Promise<FirstServed> {
  const folder = tempDir();
  const made = await parley(['init'], { cwd: folder });
  if (made.exitCode !== 0) throw new Error(`init failed: ${made.stderr}`);
  const script = path.join(folder, 'gateway.yaml');
  writeFileSync(script, SCRIPT);
  const env = { PARLEY_GATEWAY_KEY: 'sk-first', PARLEY_MODEL: `openai/${MODEL}` };
  const url = await startScriptedGateway(script, onTestFinished, env);
  const config = `${readFileSync(path.join(folder, 'parley.yaml'), 'utf8')}${more}`;
  const served = await serve(folder, { config, env: { ...env, PARLEY_GATEWAY_URL: `${url}/v1` } });
  return { ...served, dataDir: path.join(folder, 'data') };
}
