/**
 * Three hundred conversations on defaults: a gateway, then `parley run job.yaml`.
 * Plain JavaScript without a dependency, and everything it does a user could type; docs/three-hundred.md says how.
 * Must not interpret what the run prints: its output, its signals and its exit code are passed on.
 *
 *   node main.js [flags of run]                runs the job
 *   node main.js COMMAND [arguments]           any other command of parley, with the same gateway: plan, resume RUN
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

const HERE = import.meta.dirname;
const PARLEY = path.resolve(HERE, '../../bin/parley.js');
/** How this was called, for the commands that parley prints. */
const CALLED = process.env.PARLEY_COMMAND || `node ${path.relative(process.cwd(), import.meta.filename)}`;
const KEEPER = path.resolve(HERE, '../first-batch/gateway-keeper.js');
const LEDGER = '.parley/gateway-ledger.jsonl';

/** A word that is no flag is a command; commands that take a job get this one when nothing else is named. */
function parleyArguments(given) {
  if (given.length === 0 || given[0].startsWith('-')) return ['run', 'job.yaml', ...given];
  const [command, ...rest] = given;
  const takesJob = ['validate', 'plan', 'run', 'simulate'].includes(command);
  return takesJob && (rest.length === 0 || rest[0].startsWith('-')) ? [command, 'job.yaml', ...rest] : given;
}

/** Its ledger stays from start to start, so that a run that is resumed still finds its rows. */
async function startGateway() {
  const key = process.env.PARLEY_GATEWAY_KEY || `sk-${randomBytes(18).toString('hex')}`;
  const args = [KEEPER, PARLEY, 'scripted-gateway', 'gateway.yaml', '--ledger', LEDGER];
  // A process group of its own: Ctrl-C is for the run, which needs the gateway until it has ended.
  const keeper = spawn(process.execPath, args, {
    cwd: HERE,
    detached: true,
    env: { ...process.env, PARLEY_GATEWAY_KEY: key },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => keeper.once('exit', resolve));
  for await (const line of createInterface({ input: keeper.stdout })) {
    if (!line.startsWith('{"type":"listening"')) continue;
    const { url } = JSON.parse(line);
    const env = {
      PARLEY_COMMAND: CALLED,
      PARLEY_CONFIG: 'parley.yaml',
      PARLEY_GATEWAY_URL: `${url}/v1`,
      PARLEY_GATEWAY_KEY: key,
      PARLEY_GATEWAY_EXPORT: `${url}/spend/export`,
    };
    const stop = async () => {
      keeper.stdin.end();
      await ended;
    };
    return { env, stop };
  }
  throw new Error('Cannot start the scripted gateway: it ended before it listened');
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

try {
  mkdirSync(path.join(HERE, '.parley'), { recursive: true });
  const gateway = await startGateway();
  try {
    process.exitCode = await runParley(parleyArguments(process.argv.slice(2)), {
      ...process.env,
      ...gateway.env,
    });
  } finally {
    await gateway.stop();
  }
} catch (error) {
  process.stderr.write(`three-hundred: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
