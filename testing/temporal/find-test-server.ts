/**
 * Where the server that skips time is on this machine: named by the environment, installed in the cache, or fetched into
 * it by the SDK's own way.
 * Owns the order of looking; must not leave a server running.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { isProgram, type Environment } from '../../temporal/dev-server/program.ts';

/** What was fetched stays: a newer SDK fetches under another name. */
const KEPT = '3650 days';
const VARIABLE = 'PARLEY_TEMPORAL_TEST_SERVER';
const HOW =
  'install Java and Maven and run "node scripts/temporal-tools.js" in a checkout, or name the program in PARLEY_TEMPORAL_TEST_SERVER';

/** Brings the server into a folder, or rejects. */
export type Fetch = (folder: string) => Promise<void>;

/**
 * The path of the program; it takes a port as its only argument.
 * @throws ParleyError engine_misconfigured when there is none and none can be fetched
 */
export async function findTestServer(env: Environment, fetch: Fetch = fetchBySdk): Promise<string> {
  const named = env[VARIABLE] ?? '';
  if (named !== '') {
    if (isProgram(named)) return named;
    throw missing(`${VARIABLE} names "${named}", which is no program`);
  }
  const tools = toolsFolder(env);
  const installed = installedIn(tools);
  if (installed !== null) return installed;
  const folder = path.join(tools, 'temporal-test-server');
  const fetched = programIn(folder);
  if (fetched !== null) return fetched;
  try {
    mkdirSync(folder, { recursive: true });
    await fetch(folder);
  } catch (cause) {
    throw missing('it is not installed and could not be fetched', cause);
  }
  const program = programIn(folder);
  if (program === null) throw missing('it is not installed, and nothing was fetched');
  return program;
}

/** The SDK fetches only by starting: this server is stopped at once, because ours is started under a known process id. */
async function fetchBySdk(folder: string): Promise<void> {
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  const executable = { type: 'cached-download', downloadDir: folder, ttl: KEPT } as const;
  const started = await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
  await started.teardown();
}

function toolsFolder(env: Environment): string {
  const named = env['PARLEY_TOOLS_DIR'] ?? '';
  return named === '' ? path.join(env['HOME'] ?? os.homedir(), '.cache', 'parley-tools') : named;
}

/** What scripts/temporal-tools.js installed, the newest version of it. */
function installedIn(tools: string): string | null {
  const folders = names(tools).filter((name) => name.startsWith('temporal-test-server-'));
  const files = folders.sort().reverse();
  return files.map((name) => path.join(tools, name, 'temporal-test-server')).find(isProgram) ?? null;
}

function programIn(folder: string): string | null {
  const files = names(folder).sort().reverse();
  return files.map((file) => path.join(folder, file)).find(isProgram) ?? null;
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function missing(because: string, cause?: unknown): ParleyError {
  return new ParleyError('engine_misconfigured', `Cannot start the server that skips time: ${because}`, {
    ...(cause === undefined ? {} : { cause }),
    remedy: HOW,
  });
}
