/**
 * A random job for a seed: the text a team would write, compiled by the real compiler, in a random world and policy.
 * Owns the choice of keys and values; the same seed gives the same job.
 */
import { createHash } from 'node:crypto';
import type { ActivityCommandType } from '../../core/machine/command.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { FAILURE_CLASSES, GROUPING_STRATEGIES } from '../../core/status.ts';
import { compileJob } from '../../dsl/compile-job.ts';
import { STRATEGY_WORDS } from '../../dsl/schema/job-schema.ts';
import { AWAITED_STATUSES } from '../../dsl/schema/run-schema.ts';
import { pick } from '../../simulator/campaign/choose.ts';
import { fixed, lognormal, uniform } from '../../simulator/models/distribution.ts';
import {
  MODELS_DEFAULT,
  type AgentBehaviour,
  type FailureRate,
  type ModelOptions,
  type Policy,
} from '../../simulator/models/model-options.ts';
import { RandomStream } from '../../simulator/random.ts';
import type { Action, Script } from '../../simulator/script.ts';
import { D, H, M, S } from './script-parts.ts';

const MODELS = ['strong', 'fast'] as const;
const FAILING: readonly ActivityCommandType[] = [
  'createSandbox',
  'resumeSandbox',
  'stopSandbox',
  'archiveWorkspace',
  'prepareRepository',
  'runSetupScript',
  'openAgent',
  'deliverItem',
  'verifyItem',
  'collectItem',
  'startConversation',
];

/** A key with its value half of the time: what a job leaves out has a default. */
function maybe<Value>(stream: RandomStream, key: string, value: () => Value): Record<string, Value> {
  return stream.happens(0.5) ? { [key]: value() } : {};
}

export function randomJob(seed: number): Script {
  const stream = new RandomStream(seed).split('job');
  const plan = compile(jobOf(stream), seed);
  const steps: Script['steps'][number][] = [
    // Every third as if it were large: its items live in shards.
    { atMs: 0, action: { do: 'run', plan, ...(seed % 3 === 0 ? { shardItems: 2 } : {}) } },
  ];
  let atMs = 0;
  for (let count = Math.floor(stream.next() * 4); count > 0; count -= 1) {
    atMs += pick(stream, [S, 40 * S, 10 * M, 2 * H, 13 * H]);
    steps.push({ atMs, action: controlOf(stream) });
  }
  const untilMs = atMs + pick(stream, [3 * H, 2 * D, 12 * D]);
  return { name: `job ${seed}`, seed, models: modelsOf(stream), policy: policyOf(stream), steps, untilMs };
}

/** The job of a seed once more, its keys in another order, from another place: a team that has changed nothing. */
export function planAgain(seed: number): Plan {
  const job = jobOf(new RandomStream(seed).split('job'));
  return compile(reversed(job) as object, seed, 'elsewhere/other.yaml');
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  // The order of axes is meant.
  const turned = Object.entries(value).map(([key, one]) => [key, key === 'matrix' ? one : reversed(one)]);
  return Object.fromEntries(turned.reverse());
}

function compile(job: object, seed: number, path = 'job.yaml'): Plan {
  const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');
  const world = { sha256, models: MODELS, readFile: () => ({ problem: 'missing' }) as const };
  const { plan, diagnostics } = compileJob({ path, text: JSON.stringify(job) }, world);
  if (plan === null) throw new Error(`Cannot use the job of seed ${seed}: ${diagnostics[0]?.message ?? ''}`);
  return plan;
}

function jobOf(stream: RandomStream): object {
  const entries = Array.from({ length: 1 + Math.floor(stream.next() * 3) }, (_, at) => entryOf(stream, at));
  return {
    kind: 'job',
    version: 1,
    name: 'batch',
    defaults: { model: pick(stream, MODELS), ...maybe(stream, 'limits', () => limitsOf(stream)) },
    conversations: entries,
    ...placementOf(stream),
    ...maybe(stream, 'admission', () => ({ concurrency: 1 + Math.floor(stream.next() * 4) })),
    ...maybe(stream, 'budget', () => ({
      usd: pick(stream, ['0.5', '3', '40']),
      ...maybe(stream, 'reserve', () => pick(stream, ['0', '0.4'])),
      ...maybe(stream, 'mode', () => pick(stream, ['observe', 'audit', 'enforce'])),
    })),
    ...maybe(stream, 'retry', () => [
      {
        on: pick(stream, FAILURE_CLASSES),
        attempts: Math.floor(stream.next() * 3),
        ...maybe(stream, 'backoff', () => ({ initial: '5s', factor: 3, max: '20m' })),
      },
    ]),
    ...maybe(stream, 'breaker', () => ({
      on: pick(stream, FAILURE_CLASSES),
      window: pick(stream, ['1m', '3h']),
      count: 1 + Math.floor(stream.next() * 2),
      // Drawn apart: a seed keeps what it drew for the other keys.
      ...maybe(stream.split('recover'), 'recover', () => ({ after: '7m', probes: 2 })),
    })),
    ...maybe(stream, 'wait', () => ({
      ...maybe(stream, 'until', () => ['FINISHED', pick(stream, AWAITED_STATUSES.slice(1))]),
      ...maybe(stream, 'deadline', () => pick(stream, ['20m', '3h', '30h', 'none'])),
      ...maybe(stream, 'no_progress', () => pick(stream, ['2m', '1h', 'none'])),
      ...maybe(stream, 'on_session_limit', () => pick(stream, ['resume', 'stop'])),
    })),
    ...maybe(stream, 'cleanup', () => ({
      sandbox: pick(stream, ['delete', 'pause', 'keep']),
      conversation: pick(stream, ['keep', 'delete']),
      on_collect_failure: pick(stream, ['keep', 'delete']),
    })),
    ...maybe(stream, 'reconcile', () => ({ rows: 'proxy', settle: pick(stream, ['1s', '30m']) })),
    ...maybe(stream.split('finally'), 'finally', () => [
      { notify: 'https://receiver.example' },
      { notify: { to: 'https://receiver.example', timeout: '1s' } },
    ]),
  };
}

function placementOf(stream: RandomStream): { readonly placement?: object } {
  const { placement } = maybe(stream, 'placement', () => ({ strategy: pick(stream, STRATEGY_WORDS) }));
  // Drawn apart: a seed keeps what it drew for the other keys.
  const apart = stream.split('pool');
  if (!apart.happens(0.3)) return placement === undefined ? {} : { placement };
  const isLone = placement?.strategy === 'no_grouping';
  const pool = {
    size: 1 + Math.floor(apart.next() * 3),
    ...(isLone ? {} : maybe(apart, 'max_per_sandbox', () => 1 + Math.floor(apart.next() * 3))),
    ...maybe(apart, 'recycle', () => pick(apart, [{ after: 2 }, { max_age: '30m' }])),
    ...maybe(apart, 'on_full', () => pick(apart, ['wait', 'spill', 'fail'])),
    ...maybe(apart, 'warm', () => true),
  };
  return { placement: { ...placement, pool } };
}

function entryOf(stream: RandomStream, at: number): object {
  return {
    id: `entry-${at}`,
    prompt: 'do it',
    ...maybe(stream, 'priority', () => Math.floor(stream.next() * 3)),
    ...maybe(stream, 'verify', () => 'true'),
    ...maybe(stream, 'matrix', () => ({ axis: ['a', 'b', 'c'].slice(0, 1 + Math.floor(stream.next() * 3)) })),
    ...maybe(stream, 'limits', () => limitsOf(stream)),
  };
}

function limitsOf(stream: RandomStream): object {
  return {
    ...maybe(stream, 'working', () => pick(stream, ['5m', '40m', '11h'])),
    ...maybe(stream, 'turns', () => 80),
    ...maybe(stream, 'usd', () => pick(stream, ['0.2', '2'])),
  };
}

function controlOf(stream: RandomStream): Action {
  const kind = pick(stream, ['cancelRun', 'drainRun', 'resumeRun', 'concurrency'] as const);
  if (kind === 'resumeRun')
    return { do: kind, classes: [pick(stream, FAILURE_CLASSES), pick(stream, FAILURE_CLASSES)] };
  return kind === 'concurrency' ? { do: kind, of: 1 + Math.floor(stream.next() * 5) } : { do: kind };
}

function policyOf(stream: RandomStream): Policy {
  return {
    limits: {
      idleTimeMs: pick(stream, [2 * M, 20 * M, 3 * H, null]),
      deletionTimeMs: pick(stream, [3 * H, 10 * D, null]),
    },
    capacity: {
      installationMax: pick(stream, [1, 2, 100]),
      userMax: pick(stream, [1, 3, 100]),
      conversationsPerSandboxMax: pick(stream, [1, 2, 20]),
    },
    onFull: pick(stream, ['refuse', 'queue', 'pause_longest_idle'] as const),
    grouping: pick(stream, GROUPING_STRATEGIES),
  };
}

function modelsOf(stream: RandomStream): ModelOptions {
  const share = pick(stream, [0, 0.05, 0.3]);
  const failures: Partial<Record<ActivityCommandType, FailureRate>> = Object.fromEntries(
    FAILING.map((type) => [type, { share }]),
  );
  const agent: AgentBehaviour = {
    ...MODELS_DEFAULT.agent,
    work: pick(stream, [fixed(30 * H), uniform(M, 2 * H), lognormal(18 * M, 2 * H)]),
    outcomes: pick(stream, [
      { FINISHED: 1, ERROR: 0, STUCK: 0 },
      { FINISHED: 2, ERROR: 1, STUCK: 1 },
    ]),
    rateLimit: { share: pick(stream, [0, 0.3]), wait: uniform(S, 40 * M) },
    confirmation: { share: pick(stream, [0, 0.3]), answerAfter: pick(stream, [null, uniform(S, 2 * H)]) },
    quiet: { share: pick(stream, [0, 0.4]), length: uniform(M, 2 * H), leased: 0.5 },
  };
  return { ...MODELS_DEFAULT, failures, agent, checkFails: pick(stream, [0, 0.4]) };
}
