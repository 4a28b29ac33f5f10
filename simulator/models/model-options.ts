/**
 * What a world is like, as data: how long things take, how often they fail, what they cost, what a deployment decided.
 * Owns the shapes and a first set of values; figures of a real deployment replace them.
 */
import type { ActivityCommandType } from '../../core/machine/command.ts';
import { SECOND_MS, HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import type { TokenPrice } from '../../core/money/price.ts';
import type { Deployment } from '../../ports/deployment.ts';
import type { HostsSetting } from '../hosts/host-setting.ts';
import { fixed, lognormal, type Distribution } from './distribution.ts';

/** The lifecycle policy: what an operator may decide. The length of a session is no part of it (D10). */
export interface Policy extends Pick<Deployment, 'limits' | 'capacity' | 'onFull' | 'grouping'> {
  /** Where sandboxes live (D33); absent: they are bound to no host. */
  readonly hosts?: HostsSetting;
}

/** Capacity slots that a play can hold at once: all in it belongs to one user, so the smaller bound counts (D17). */
export function slotsMaxOf({ installationMax, userMax }: Policy['capacity']): number {
  return Math.min(installationMax, userMax);
}

/** Milliseconds each. */
interface RuntimeTimes {
  readonly boot: Distribution;
  readonly resume: Distribution;
  readonly stop: Distribution;
  readonly archive: Distribution;
  readonly destroy: Distribution;
}

/** One kind of agent at work on one message. */
export interface AgentBehaviour {
  /** Milliseconds of work a message causes. */
  readonly work: Distribution;
  /** Weights of how it ends. */
  readonly outcomes: { readonly FINISHED: number; readonly ERROR: number; readonly STUCK: number };
  /** Share of works that stop on a rate limit on the way, and for how long the gateway says to wait. */
  readonly rateLimit: { readonly share: number; readonly wait: Distribution };
  /** Share of works that request a confirmation on the way; null: no user ever answers. */
  readonly confirmation: { readonly share: number; readonly answerAfter: Distribution | null };
  /** Share of works with a quiet stretch, its length, and the share of those in which a tool holds a lease (D9). */
  readonly quiet: { readonly share: number; readonly length: Distribution; readonly leased: number };
  /** Quiet stretches at given places of the work, in order; absent: none. */
  readonly gaps?: readonly AgentGap[];
  readonly inputTokens: Distribution;
  readonly outputTokens: Distribution;
}

/** Quiet on top of the work, once so much of the work is done; with a lease it is activity (D9). */
export interface AgentGap {
  readonly atMs: number;
  readonly lengthMs: number;
  readonly leased: boolean;
}

/** The first rule whose pattern fits the key decides; `*` stands for any characters. */
interface AgentRule {
  readonly keys: string;
  readonly behaviour: AgentBehaviour;
}

/** How often a command fails; `first` fails that many of its kind before chance decides. */
export interface FailureRate {
  readonly first?: number;
  readonly share?: number;
}

/** The figures of one world. */
export interface ModelOptions {
  readonly runtime: RuntimeTimes;
  /** Milliseconds of every step of a start, of a delivery and of an interruption. */
  readonly agentCall: Distribution;
  readonly verify: Distribution;
  readonly collect: Distribution;
  readonly agent: AgentBehaviour;
  readonly agentRules: readonly AgentRule[];
  /** By the key itself, before any rule; absent: rules only. */
  readonly agentByKey?: ReadonlyMap<string, AgentBehaviour>;
  readonly failures: Readonly<Partial<Record<ActivityCommandType, FailureRate>>>;
  /** Share of checks that fail (D28). */
  readonly checkFails: number;
  /** By model name; `default` for every other. */
  readonly prices: Readonly<Record<string, TokenPrice>> & { readonly default: TokenPrice };
  /** How often a runtime is polled although no event came. */
  readonly pollMs: number;
  /** The longest wait between two tries to get a slot while all are taken; absent: that of a driver's retries. */
  readonly slotRetryMaxMs?: number;
}

const AGENT_DEFAULT: AgentBehaviour = {
  work: lognormal(18 * MINUTE_MS, 2 * HOUR_MS),
  outcomes: { FINISHED: 0.9, ERROR: 0.05, STUCK: 0.05 },
  rateLimit: { share: 0.02, wait: lognormal(MINUTE_MS, 10 * MINUTE_MS) },
  confirmation: { share: 0, answerAfter: null },
  quiet: { share: 0.1, length: lognormal(5 * MINUTE_MS, 30 * MINUTE_MS), leased: 0.8 },
  inputTokens: lognormal(400_000, 3_000_000),
  outputTokens: lognormal(15_000, 100_000),
};

/** Three USD a million input tokens, fifteen a million output tokens, a tenth of the input price from the cache. */
const PRICE_DEFAULT: TokenPrice = {
  inputFemtoUsd: 3_000_000_000n,
  outputFemtoUsd: 15_000_000_000n,
  cachedInputFemtoUsd: 300_000_000n,
};

/** A plausible deployment, measured nowhere: a first estimate, not a forecast. */
export const MODELS_DEFAULT: ModelOptions = {
  runtime: {
    boot: lognormal(4 * SECOND_MS, 20 * SECOND_MS),
    resume: lognormal(3 * SECOND_MS, 15 * SECOND_MS),
    stop: lognormal(2 * SECOND_MS, 10 * SECOND_MS),
    archive: lognormal(5 * SECOND_MS, MINUTE_MS),
    destroy: lognormal(SECOND_MS, 5 * SECOND_MS),
  },
  agentCall: lognormal(200, 2 * SECOND_MS),
  verify: lognormal(30 * SECOND_MS, 5 * MINUTE_MS),
  collect: lognormal(2 * SECOND_MS, 20 * SECOND_MS),
  agent: AGENT_DEFAULT,
  agentRules: [],
  failures: {
    createSandbox: { share: 0.01 },
    resumeSandbox: { share: 0.01 },
    prepareRepository: { share: 0.005 },
  },
  checkFails: 0.1,
  prices: { default: PRICE_DEFAULT },
  pollMs: 5 * SECOND_MS,
};

/** Everything takes a fixed time and succeeds: the world in which only the rules are at work. */
export const MODELS_STEADY: ModelOptions = {
  runtime: {
    boot: fixed(4 * SECOND_MS),
    resume: fixed(3 * SECOND_MS),
    stop: fixed(2 * SECOND_MS),
    archive: fixed(5 * SECOND_MS),
    destroy: fixed(SECOND_MS),
  },
  agentCall: fixed(200),
  verify: fixed(30 * SECOND_MS),
  collect: fixed(2 * SECOND_MS),
  agent: {
    work: fixed(18 * MINUTE_MS),
    outcomes: { FINISHED: 1, ERROR: 0, STUCK: 0 },
    rateLimit: { share: 0, wait: fixed(MINUTE_MS) },
    confirmation: { share: 0, answerAfter: null },
    quiet: { share: 0, length: fixed(0), leased: 0 },
    inputTokens: fixed(400_000),
    outputTokens: fixed(15_000),
  },
  agentRules: [],
  failures: {},
  checkFails: 0,
  prices: { default: PRICE_DEFAULT },
  pollMs: 5 * SECOND_MS,
};

/** How long a command takes; placements, resumes and watches are answered otherwise. */
export function durationOf(
  { runtime, agentCall, verify, collect }: ModelOptions,
  type: ActivityCommandType,
): Distribution {
  switch (type) {
    case 'createSandbox':
      return runtime.boot;
    case 'resumeSandbox':
      return runtime.resume;
    case 'stopSandbox':
      return runtime.stop;
    case 'archiveWorkspace':
      return runtime.archive;
    case 'destroySandbox':
      return runtime.destroy;
    case 'verifyItem':
      return verify;
    case 'collectItem':
      return collect;
    default:
      return agentCall;
  }
}

/** The behaviour for an item; conversations outside a run have the key "". */
export function behaviourOf(options: ModelOptions, key: string): AgentBehaviour {
  const own = options.agentByKey?.get(key);
  if (own !== undefined) return own;
  const rule = options.agentRules.find(({ keys }) => fits(keys, key));
  return rule?.behaviour ?? options.agent;
}

function fits(pattern: string, key: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(key);
}
