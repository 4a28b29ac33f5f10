/**
 * Chaos on a cluster: clients lead conversations and a run through three APIs, while a plan of faults harms every
 * process. Then all harm ends, and what is left is judged.
 * Owns the order of events; docs/chaos.md says how to read its result.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Caller } from '../cluster/caller.ts';
import { playRun, type FinishedRun } from '../cluster/cluster-run.ts';
import { DirectCalls } from '../cluster/direct-calls.ts';
import { faultPlan, faultText, type Fault } from '../cluster/fault-plan.ts';
import { openCluster, type Cluster } from '../cluster/ground.ts';
import { judge, type Verdict } from '../cluster/judge.ts';
import { live, type Life } from '../cluster/life.ts';
import type { Program } from '../cluster/program.ts';
import { RandomStream } from '../../simulator/random.ts';

export interface ClusterChaosOptions {
  readonly seed: number;
  /** How long the harm goes on at least; conversations go on meanwhile. */
  readonly minutes: number;
  /** So many faults in place of a time; null: by time. */
  readonly faults: number | null;
  readonly conversations: number;
  readonly items: number;
  /** Lives that are led at once. */
  readonly clients: number;
  /** Factor of the pauses between faults: below 1 they are shorter. */
  readonly pace: number;
  readonly isolation: 'auto' | 'none';
  tell(line: string): void;
}

export interface ClusterChaosResult {
  readonly seed: number;
  readonly findings: readonly string[];
  readonly plan: readonly string[];
  readonly logs: string;
  readonly notApart: string | null;
  readonly counts: Readonly<Record<string, number>>;
}

const MINUTE_MS = 60_000;
const SIZE = { apis: 3, workers: 3, proxies: 2 } as const;
const MESSAGES_EACH = 3;
/** Exit code of a program that cannot start because a service is unreachable. */
const UNREACHABLE = new Set<number | string>([5]);

export async function clusterChaos(options: ClusterChaosOptions): Promise<ClusterChaosResult> {
  const { clients, isolation, tell } = options;
  const capacity = { host: clients, all: SIZE.workers * clients, isolation };
  const cluster = await openCluster({ ...SIZE, capacity, setsApart: true });
  let findings: readonly string[] = ['it was cut short'];
  try {
    if (cluster.notApart !== null) tell(`machines are not set apart: ${cluster.notApart}`);
    tell(`three APIs, three workers, two proxies serve; their logs are in ${cluster.logs}`);
    const result = await storm(cluster, options);
    findings = result.findings;
    return result;
  } finally {
    await cluster.close(findings.length > 0);
  }
}

async function storm(cluster: Cluster, options: ClusterChaosOptions): Promise<ClusterChaosResult> {
  const { seed, tell } = options;
  const random = new RandomStream(seed);
  const caller = new Caller(cluster.apiUrls);
  await caller.call({
    ...{ method: 'POST', path: '/api/v1/settings' },
    body: { conversation_settings_diff: { confirmation_mode: true, security_analyzer: 'llm' } },
  });
  const plan: Fault[] = [];
  const hasEnded = { value: false };
  const until = Date.now() + options.minutes * MINUTE_MS;
  const isOver = (): boolean =>
    options.faults === null ? Date.now() >= until : plan.length >= options.faults;
  const direct = await DirectCalls.begin(cluster.proxyUrls);
  const said = <T>(value: T, line: string): T => {
    tell(line);
    return value;
  };
  const [lives, run] = await Promise.all([
    leadLives(caller, random.split('lives'), options, () => hasEnded.value).then((all) =>
      said(all, `${all.length} conversations were led`),
    ),
    playRun(caller, options.items)
      .catch((error: unknown) => failedRun(error))
      .then((one) => said(one, 'the run is over')),
    harm(cluster, random.split('faults'), { ...options, plan, isOver }).then(() => {
      hasEnded.value = true;
      tell(`the harm is over after ${plan.length} faults`);
    }),
  ]);
  await direct.stop();
  const verdict = await judge(cluster, caller, { lives, run });
  const ends = programEnds(cluster);
  return {
    ...{ seed, plan: plan.map(faultText), logs: cluster.logs, notApart: cluster.notApart },
    findings: [...verdict.findings, ...ends.findings],
    counts: {
      ...counted(lives, verdict),
      ...Object.fromEntries(
        [...direct.statuses].map(([status, count]) => [`direct calls answered ${status}`, count]),
      ),
      ...Object.fromEntries(kindsOf(plan)),
      'calls of the API': caller.counts.calls,
      'tries of them': caller.counts.tries,
      'programs that ended and were started again': ends.count,
    },
  };
}

function failedRun(error: unknown): FinishedRun {
  return { id: `that failed: ${String(error)}`, keys: [], record: null };
}

async function harm(
  cluster: Cluster,
  random: RandomStream,
  storm: Pick<ClusterChaosOptions, 'tell' | 'pace'> & { readonly plan: Fault[]; isOver(): boolean },
): Promise<void> {
  const { plan, isOver, tell, pace } = storm;
  const targets = { ...SIZE, areApart: cluster.notApart === null };
  for (const fault of faultPlan(random, targets)) {
    if (isOver()) return;
    plan.push(fault);
    tell(faultText(fault));
    await pause(fault.afterMs * pace);
    await strike(cluster, fault);
  }
}

/** `clients` at once, all that were requested, and further ones while the harm goes on. */
async function leadLives(
  caller: Caller,
  random: RandomStream,
  { conversations, clients }: ClusterChaosOptions,
  hasEnded: () => boolean,
): Promise<readonly Life[]> {
  const lives: Life[] = [];
  let begun = 0;
  const client = async (): Promise<void> => {
    while (begun < conversations || !hasEnded()) {
      begun += 1;
      const name = `life-${begun}`;
      lives.push(await live(caller, random.split(name), { name, messages: MESSAGES_EACH }));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return lives;
}

/** A program that ends in an outage has that exit code; any other exit of its own is a finding. */
function programEnds({ apis, workers, proxies, lost }: Cluster): {
  readonly count: number;
  readonly findings: readonly string[];
} {
  const programs = [...apis, ...workers, ...proxies, ...lost];
  const findings = programs.flatMap(({ name, ends, settings }) => {
    const odd = ends.filter((end) => !UNREACHABLE.has(end));
    return odd.length === 0 ? [] : [`${name} ended by itself with ${odd.join(', ')}: ${settings.log}`];
  });
  return { count: programs.reduce((sum, { ends }) => sum + ends.length, 0), findings };
}

function kindsOf(plan: readonly Fault[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { kind } of plan) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

function counted(
  lives: readonly Life[],
  { messages, events, agents, clients }: Verdict,
): Record<string, number> {
  return {
    'conversations led': lives.length,
    'starts refused': lives.filter(({ refused }) => refused[0]?.startsWith('start') === true).length,
    'conversations refused later': lives.filter(({ refused: [first] }) => first && !first.startsWith('start'))
      .length,
    'slowest start in ms': Math.max(...lives.map(({ startMs }) => startMs)),
    'slowest conversation in ms': Math.max(...lives.map(({ totalMs }) => totalMs)),
    'messages accepted': messages,
    'events told and stored': events,
    'streams begun': lives.reduce((sum, { stream }) => sum + (stream?.connections ?? 0), 0),
    'calls billed to agents': agents.calls,
    'of them cut off': agents.cutOff,
    'calls billed to clients': clients.calls,
    'of these cut off': clients.cutOff,
  };
}

/** Resolves when the target is started again, not when it serves. */
async function strike(cluster: Cluster, { kind, target, awayMs }: Fault): Promise<void> {
  const { services, machines } = cluster;
  switch (kind) {
    case 'api killed':
      return await killed(cluster.apis[target], awayMs);
    case 'worker killed':
      return await killed(cluster.workers[target], awayMs);
    case 'proxy killed':
      return await killed(cluster.proxies[target], awayMs);
    case 'api stopped':
      return await stopped(cluster.apis[target], awayMs);
    case 'worker stopped':
      return await stopped(cluster.workers[target], awayMs);
    case 'proxy stopped':
      return await stopped(cluster.proxies[target], awayMs);
    case 'machine without power':
      await withoutPower(cluster, target);
      await pause(awayMs);
      await machines[target]?.start();
      cluster.workers[target]?.start();
      return;
    case 'machine lost for good':
      await withoutPower(cluster, target);
      await pause(awayMs);
      return await cluster.replace(target);
    case 'PostgreSQL crashed':
      await services.postgres.stop('SIGQUIT');
      await pause(awayMs);
      return await services.postgres.start();
    case 'Temporal killed':
      await services.temporal.kill();
      await pause(awayMs);
      return await services.temporal.start();
    case 'bucket killed':
      await services.s3.kill();
      await pause(awayMs);
      return await services.s3.start();
  }
}

async function withoutPower({ workers, machines }: Cluster, target: number): Promise<void> {
  workers[target]?.forget();
  await machines[target]?.cutPower();
  await workers[target]?.kill();
}

async function killed(program: Program | undefined, awayMs: number): Promise<void> {
  await program?.kill();
  await pause(awayMs);
  program?.start();
}

async function stopped(program: Program | undefined, awayMs: number): Promise<void> {
  program?.suspend();
  await pause(awayMs);
  program?.goOn();
}
