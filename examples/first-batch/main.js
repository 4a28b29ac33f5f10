/**
 * The first batch, from nothing: repositories, a secret, a gateway, then `parley run job.yaml`.
 * Plain JavaScript without a dependency, and everything it does a user could type; docs/first-batch.md says how.
 * Must not interpret what the run prints: its output, its signals and its exit code are passed on.
 *
 *   node main.js [--fresh] [flags of run]      runs the job; --fresh forgets earlier runs first
 *   node main.js COMMAND [arguments]           any other command of parley, with the same gateway: resume RUN
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { realGateway, SettingError, startScriptedGateway } from './gateway.js';
import { makeRepositories } from './repositories.js';

const HERE = import.meta.dirname;
/** Where results go: `out` beside this file, unless the deployment says otherwise. */
const OUT = path.resolve(HERE, process.env.PARLEY_RESULTS_DIR || 'out');
const PARLEY = path.resolve(HERE, '../../bin/parley.js');
/** How this was called, for the commands that parley prints. */
const CALLED = process.env.PARLEY_COMMAND || `node ${path.relative(process.cwd(), import.meta.filename)}`;
const COMMANDS = 'validate plan run status watch logs resume cancel collect reconcile report doctor'.split(
  ' ',
);
/** Commands that take a job, and get this example's when none is given. */
const JOB_COMMANDS = ['validate', 'plan', 'run'];
/** Exit code for wrong settings, as parley's own. */
const USAGE = 2;

function parleyArguments(given, job) {
  const [command, ...rest] = COMMANDS.includes(given[0]) ? given : ['run', ...given];
  const needsJob = JOB_COMMANDS.includes(command) && (rest.length === 0 || rest[0].startsWith('-'));
  return [command, ...(needsJob ? [job] : []), ...rest];
}

/** Runs parley in the example's folder, on the same terminal; resolves with its exit code. */
function runParley(args, env) {
  const child = spawn(process.execPath, [PARLEY, ...args], { cwd: HERE, env, stdio: 'inherit' });
  const onTerminate = () => child.kill('SIGTERM');
  // Ctrl-C on a terminal reaches the run by itself, and a second one would mean "at once".
  const onInterrupt = () => process.stdin.isTTY || child.kill('SIGINT');
  process.on('SIGTERM', onTerminate).on('SIGHUP', onTerminate).on('SIGINT', onInterrupt);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? 128 + os.constants.signals[signal]));
  });
}

function runFolders() {
  try {
    return readdirSync(OUT);
  } catch {
    return [];
  }
}

/** Names the folders that a run has made, on standard error: standard output is the run's. */
function tellResults(before) {
  for (const name of runFolders().filter((folder) => !before.includes(folder))) {
    process.stderr.write(`Results: ${path.relative(process.cwd(), path.join(OUT, name))}\n`);
  }
}

async function main(argv) {
  const given = argv.filter((argument) => argument !== '--fresh');
  if (given.length < argv.length) {
    // The results folder may be shared: only this batch's own runs go.
    const runs = runFolders().filter((name) => name.startsWith('first-batch-'));
    for (const folder of [path.join(HERE, '.parley'), ...runs.map((name) => path.join(OUT, name))])
      rmSync(folder, { recursive: true, force: true });
  }
  const real = realGateway(process.env);
  makeRepositories(path.join(HERE, '.parley', 'repos'));
  const gateway = real ?? (await startScriptedGateway(process.env));
  const before = runFolders();
  try {
    const token = process.env.PARLEY_EXAMPLE_TOKEN || randomBytes(24).toString('hex');
    const own = { PARLEY_COMMAND: CALLED, PARLEY_EXAMPLE_TOKEN: token, PARLEY_CONFIG: gateway.config };
    return await runParley(parleyArguments(given, gateway.job), { ...process.env, ...own, ...gateway.env });
  } finally {
    await gateway.stop();
    tellResults(before);
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`first-batch: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = error instanceof SettingError ? USAGE : 1;
}
