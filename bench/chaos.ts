/**
 * `npm run chaos -- --minutes N --runtime process|docker [--seed N] [--sandboxes N] [--kill SECONDS]`: real sandboxes under
 * real harm. `--faults N` in place of `--minutes` ends the storm by a count, at any speed of the machine.
 * An orchestrator is killed every few seconds and restarted, other processes kill, pause, remove and fill sandboxes,
 * and the daemon restarts. Then all harm ends, and the rest is judged: no message lost or doubled, nothing orphaned.
 * Owns the order of events and the table; exit code 1 when an invariant broke. docs/chaos.md says how to read it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { setTimeout as wait } from 'node:timers/promises';
import { closeDaemon, containersOf, dockerSocket, dockerdMissing } from '../scripts/docker-daemon.ts';
import { commandLineOf } from '../scripts/own-process.ts';
import { dockerDaemon } from '../runtimes/docker/docker-daemon.ts';
import { ensureImage } from '../runtimes/docker/image/sandbox-image.ts';
import { faultsOf, namesIn, pick } from './chaos/faults.ts';
import { RandomStream } from '../simulator/random.ts';
import { tellClusterChaos } from './chaos/cluster-report.ts';
import { hostileChaos } from './chaos/hostile.ts';
import { openRuntime, readJournal, type ChaosKind, type Ground } from './chaos/ground.ts';
import { orchestrate } from './chaos/orchestrator.ts';

const MINUTE_MS = 60_000;
/** Between two faults from outside. */
const FAULT_MS = [500, 2_500] as const;
/** The most that the last shift may take; after it, what has not settled is a finding. */
const SETTLE_MS = 10 * MINUTE_MS;
const REASON_LENGTH_MAX = 100;
/** A conversation with hyphens, or a sandbox with its generation where a container is named after it. */
const IDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{12,}(-\d+)?/g;
const LOG_TAIL = /; its log ends with: .*/;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    faults: { type: 'string' },
    seed: { type: 'string', default: '1' },
    runtime: { type: 'string', default: 'process' },
    sandboxes: { type: 'string', default: '20' },
    kill: { type: 'string', default: '4' },
    hostile: { type: 'boolean', default: false },
    cluster: { type: 'boolean', default: false },
    conversations: { type: 'string', default: '60' },
    items: { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    only: { type: 'string' },
    shift: { type: 'string' },
    last: { type: 'boolean', default: false },
  },
});

const HELP = `npm run chaos -- [--runtime process|docker | --hostile | --cluster] [--minutes N | --faults N] [--seed N]

  --runtime NAME      sandboxes that are cared for, on "process" or "docker"
  --sandboxes N       so many at once; also of --hostile
  --kill SECONDS      between two kills of the orchestrator
  --hostile           one sandbox against its neighbours; --only WORD plays attacks of that name
  --cluster           three APIs, three workers on machines of their own, two proxies, and what they stand on
  --conversations N   led through the cluster at least, 60 by default
  --items N           of its run, 20 by default
  --minutes N         how long the harm goes on, 1 by default
  --faults N          so many faults in place of a time
  --seed N            from which everything random is drawn, 1 by default
  --json              of --cluster: the result as one line of JSON
  --help              this text

docs/chaos.md says what must hold.
`;

/** Between two kills of the orchestrator: half of `--kill` to one and a half times that. */
const KILL_MS = [Number(values.kill) * 500, Number(values.kill) * 1_500] as const;

/** Shifts that run; one at a time, unless one is about to end. */
const shiftsUp = new Set<ChildProcess>();
/** Each plays from a seed of its own. */
let shifts = 0;
const counts = new Map<string, number>();
const findings: string[] = [];
const count = (what: string, by = 1): void => void counts.set(what, (counts.get(what) ?? 0) + by);
const seed = Number(values.seed);

async function main(): Promise<void> {
  const sandboxes = Number(values.sandboxes);
  if (values.shift !== undefined) {
    const random = new RandomStream(seed).split('orchestrator');
    await orchestrate({ ground: JSON.parse(values.shift) as Ground, sandboxes, random, isLast: values.last });
    process.exit(0);
  }
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const faults = values.faults === undefined ? null : Number(values.faults);
  if (values.cluster) {
    const { minutes = '1', conversations, items, json } = values;
    const sizes = { minutes: Number(minutes), conversations: Number(conversations), items: Number(items) };
    process.exitCode = (await tellClusterChaos({ seed, faults, ...sizes }, json)) ? 0 : 1;
    return;
  }
  if (values.hostile) {
    const options = {
      seed,
      sandboxes,
      faults,
      minutes: Number(values.minutes ?? 1),
      only: values.only ?? null,
    };
    process.exitCode = (await hostileChaos(options)) ? 0 : 1;
    return;
  }
  const kind: ChaosKind = values.runtime === 'docker' ? 'docker' : 'process';
  const missing = kind === 'docker' ? dockerdMissing() : null;
  if (missing !== null) throw new Error(`Cannot do chaos on Docker: ${missing}`);
  const ground: Ground = {
    dir: realpathSync(mkdtempSync(join(tmpdir(), 'pc-'))),
    kind,
    daemonSocket: kind === 'docker' ? dockerSocket() : '',
  };
  try {
    if (kind === 'docker') await ensureImage(dockerDaemon(ground.daemonSocket), 'host');
    await storm(ground);
    await settle(ground);
    await lookAround(ground);
  } finally {
    await endShifts();
    await closeDaemon();
    rmSync(ground.dir, { recursive: true, force: true });
  }
  report(kind);
}

/** Kills and faults at once, each from a random stream of its own, until the time or the faults are used up. */
async function storm(ground: Ground): Promise<void> {
  const until = Date.now() + Number(values.minutes ?? 1) * MINUTE_MS;
  const left = { faults: values.faults === undefined ? Infinity : Number(values.faults) };
  const isOver = (): boolean => left.faults <= 0 || (values.faults === undefined && Date.now() >= until);
  await Promise.all([killShifts(ground, isOver), strike(ground, left, isOver)]);
}

async function killShifts(ground: Ground, isOver: () => boolean): Promise<void> {
  const random = new RandomStream(seed).split('kills');
  while (!isOver()) {
    const child = shift(ground, false);
    await Promise.race([wait(between(KILL_MS, random)), ended(child)]);
    child.kill('SIGKILL');
    await ended(child);
    count('orchestrator killed');
  }
}

/** A fault that found no target counts as well: it was drawn. */
async function strike(ground: Ground, left: { faults: number }, isOver: () => boolean): Promise<void> {
  const random = new RandomStream(seed).split('faults');
  const faults = faultsOf(ground, random);
  for (; !isOver(); left.faults -= 1) {
    await wait(between(FAULT_MS, random));
    const fault = pick(faults, random);
    // A daemon restart takes seconds: too many would leave no time for other faults.
    if (fault === undefined || (fault.name === 'daemon restarted' && random.happens(0.8))) continue;
    if (await fault.strike()) count(fault.name);
  }
}

function between([from, to]: readonly [number, number], random: RandomStream): number {
  return from + random.next() * (to - from);
}

async function settle(ground: Ground): Promise<void> {
  const accepted = (await readJournal(ground)).reduce((sum, entry) => sum + entry.accepted.length, 0);
  count('messages open at the end of the storm', accepted);
  const child = shift(ground, true);
  const isOver = await Promise.race([ended(child).then(() => true), wait(SETTLE_MS).then(() => false)]);
  if (!isOver) {
    findings.push('what was left did not settle in time');
    child.kill('SIGKILL');
  }
}

/** This program again, as the orchestrator. */
function shift(ground: Ground, isLast: boolean): ChildProcess {
  shifts += 1;
  const own = [process.argv[1] ?? '', '--shift', JSON.stringify(ground), '--sandboxes', values.sandboxes];
  own.push('--seed', String(seed + shifts));
  const child = spawn(process.execPath, [...own, ...(isLast ? ['--last'] : [])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface({ input: child.stdout }).on('line', hear);
  shiftsUp.add(child);
  child.once('exit', () => shiftsUp.delete(child));
  return child;
}

/** After a failed fault, an orchestrator is still at work in the folder that is about to be removed. */
async function endShifts(): Promise<void> {
  for (const child of shiftsUp) {
    child.kill('SIGKILL');
    await ended(child);
  }
}

function hear(line: string): void {
  const [what = '', ...rest] = line.split(' ');
  const detail = rest.join(' ');
  if (what === 'crash') count(`crash seen: ${detail}`);
  else if (what === 'judged') judged(detail);
  else if (what === 'failed' || what === 'not_started') count(`${what}: ${reasonOf(detail)}`);
  else count(what);
  if (process.env['CHAOS_LOG'] !== undefined) process.stderr.write(`${new Date().toISOString()} ${line}\n`);
}

/** Without what differs from sandbox to sandbox, and without the log of one. */
const reasonOf = (detail: string): string =>
  detail.replace(LOG_TAIL, '').replaceAll(IDS, 'ID').slice(0, REASON_LENGTH_MAX);

function judged(detail: string): void {
  const { messages, lost, twice, inOrder } = JSON.parse(detail) as {
    readonly messages: number;
    readonly lost: number;
    readonly twice: number;
    readonly inOrder: boolean;
  };
  count('sandboxes judged');
  count('messages judged', messages);
  if (lost > 0) findings.push(`${lost} accepted messages were lost`);
  if (twice > 0) findings.push(`${twice} messages stand twice`);
  if (!inOrder && lost === 0 && twice === 0) findings.push('messages stand in another order');
}

/** After settling nothing is left anywhere. */
async function lookAround(ground: Ground): Promise<void> {
  const left = {
    'in the journal': (await readJournal(ground)).map((entry) => entry.sandboxId),
    'in the runtime': (await openRuntime(ground).list()).map((one) => one.sandboxId),
    directories: namesIn(join(ground.dir, 'data', 'sandboxes')),
    sockets: namesIn(join(ground.dir, 's')),
    processes: processesOf(ground.dir),
    containers: ground.kind === 'docker' ? containersOf(ground.daemonSocket) : [],
  };
  for (const [where, names] of Object.entries(left)) {
    count(`left: ${where}`, names.length);
    if (names.length > 0) findings.push(`left ${where}: ${names.join(', ')}`);
  }
}

function processesOf(dir: string): readonly string[] {
  const others = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  return others.filter((pid) => commandLineOf(pid).includes(`${dir}/data`));
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

const lengthText = (): string =>
  values.faults === undefined ? `${values.minutes ?? 1} minutes` : `${values.faults} faults`;

function report(kind: ChaosKind): void {
  process.stdout.write(`chaos on ${kind}: ${lengthText()}, ${values.sandboxes} sandboxes, seed ${seed}\n`);
  const width = Math.max(...[...counts.keys()].map((name) => name.length));
  for (const [name, number] of [...counts].sort()) process.stdout.write(`${name.padEnd(width)}  ${number}\n`);
  for (const finding of new Set(findings)) process.stdout.write(`broken: ${finding}\n`);
  process.stdout.write(findings.length === 0 ? 'all invariants hold\n' : `${findings.length} findings\n`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}

await main();
// The runtime that listed the sandboxes watches disks for as long as its process lives.
process.exit();
