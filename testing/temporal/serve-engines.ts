/**
 * The process that hosts engines on servers that skip time, for plays of another process that calls them.
 * Owns the engines by their numbers; it ends with the process that started it.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { ParleyError } from '../../core/parley-error.ts';
import { isProgram, type Environment } from '../../temporal/dev-server/program.ts';
import { failureOf, type EngineCall, type EngineReply, type EngineValue } from './engine-call.ts';
import type { OrderedEngine } from './engine-order.ts';
import type { NumberedCall, NumberedReply } from './relay-calls.ts';
import { openSkippingEngine } from './skipping-engine.ts';
import { WarmServers } from './warm-servers.ts';

/** An engine that is being opened is listed as well: a caller that gave up waiting can still close it. */
type Engines = Map<number, Promise<OrderedEngine>>;

/** As many as were open at once. */
const servers = new WarmServers();

/** Answers every message with one of its own. */
export function serveEngines(): void {
  installQuietRuntime();
  const engines: Engines = new Map();
  process.on('message', ({ number, call }: NumberedCall) => {
    void replyTo(engines, call).then((reply) => process.send?.({ number, reply } satisfies NumberedReply));
  });
  // The calling process is gone, however it ended; servers are ended as this process ends.
  process.on('disconnect', () => process.exit(0));
}

async function replyTo(engines: Engines, call: EngineCall): Promise<EngineReply> {
  try {
    return { ok: true, value: await carryOut(engines, call) };
  } catch (error) {
    return { ok: false, failure: failureOf(error) };
  }
}

async function carryOut(engines: Engines, call: EngineCall): Promise<EngineValue> {
  if (call.call === 'open') return await open(engines, call);
  const engine = await engines.get(call.engine);
  if (engine === undefined)
    throw new ParleyError('internal', 'Cannot play on Temporal: there is no such engine');
  if (call.call === 'perform') return await engine.perform(call.orders);
  engines.delete(call.engine);
  await engine.close();
  return null;
}

async function open(
  engines: Engines,
  { engine: number, eventsMax }: Extract<EngineCall, { call: 'open' }>,
): Promise<EngineValue> {
  const server = { pid: 0 };
  const opening = findTestServer(process.env).then((testServer) =>
    openSkippingEngine({
      testServer,
      servers,
      ...(eventsMax === null ? {} : { eventsMax }),
      onServer: (pid) => void (server.pid = pid),
    }),
  );
  engines.set(number, opening);
  const { startAt } = await opening;
  return { startAt, pid: server.pid };
}

/** What was fetched stays: a newer SDK fetches under another name. */
const KEPT = '3650 days';
const VARIABLE = 'PARLEY_TEMPORAL_TEST_SERVER';
const HOW =
  'install Java and Maven and run "node scripts/temporal-tools.js" in a checkout, or name the program in PARLEY_TEMPORAL_TEST_SERVER';

/** Brings the server into a folder, or rejects. */
type Fetch = (folder: string) => Promise<void>;

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

/** Once in a process, before anything else of the worker package. */
export function installQuietRuntime(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
  });
}
