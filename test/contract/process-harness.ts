/**
 * The process runtime set up for a test.
 * Owns its directories, the bundles of the two inside programs, and a real clock; one place for every process test.
 */
import { existsSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll } from 'vitest';
import type { ProcessRuntimeOptions } from '../../runtimes/process/options.ts';
import { createProcessRuntime } from '../../runtimes/process/process-runtime.ts';
import { sandboxPaths } from '../../runtimes/process/sandbox-paths.ts';
import { removeDir } from '../helpers/temp-dir.ts';
import { realClock } from './real-clock.ts';
import type { RuntimeHarness } from './runtime-suite.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

const STAND_IN = { name: 'stand-in-agent', source: 'test/contract/stand-in-agent.ts' };

export interface ProcessHarness extends RuntimeHarness {
  readonly options: ProcessRuntimeOptions;
  readonly warnings: readonly string[];
}

/** Directory for bundles, one per test file. */
const bundles = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'parley-bundles-')));
afterAll(() => removeDir(bundles));

/** The program as one file, as a release has it; built once per test file. */
export async function bundleProgram(name: string, source: string): Promise<string> {
  const outfile = path.join(bundles, `${name}.cjs`);
  if (!existsSync(outfile)) {
    const entryPoints = [path.join(ROOT, source)];
    await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'cjs', target: 'node20' });
  }
  return outfile;
}

export async function createProcessHarness(
  isolation: ProcessRuntimeOptions['isolation'],
  agentSource: { readonly name: string; readonly source: string } = STAND_IN,
  given: Partial<ProcessRuntimeOptions> = {},
): Promise<ProcessHarness> {
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'pr-')));
  const hostDir = path.join(dir, 'h');
  mkdirSync(hostDir);
  const warnings: string[] = [];
  const agentServer = await bundleProgram(agentSource.name, agentSource.source);
  const options: ProcessRuntimeOptions = {
    dataDir: path.join(dir, 'data'),
    socketDir: path.join(dir, 's'),
    isolation,
    splitsTools: true,
    programs: {
      agentServer,
      sandboxInit: await bundleProgram('sandbox-init', 'runtimes/process/inside/init.ts'),
    },
    hostSockets: {
      proxy: path.join(hostDir, 'proxy.sock'),
      webhook: path.join(hostDir, 'webhook.sock'),
      git: path.join(hostDir, 'git.sock'),
    },
    clock: realClock,
    warn: (text) => warnings.push(text),
    ...given,
  };
  return {
    options,
    warnings,
    runtime: createProcessRuntime(options),
    reopen: () => createProcessRuntime(options),
    workspaceOf: (id) => sandboxPaths(options, id).workspace,
    close: () => Promise.resolve(removeDir(dir)),
  };
}
