/**
 * A compiled scenario: a plan, a policy under test, a model of the world, what happens when, and what must hold.
 * Immutable data; owns the shape. The simulator plays it and must not read YAML.
 */
import type { HostLabels, HostStrategy } from '../../core/placement/choose-host.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { GroupingStrategy } from '../../core/status.ts';
import type { TokenPrice } from '../../core/money/price.ts';
import type { Expression } from '../expression/expression.ts';

/** Milliseconds, tokens or whatever it is used for; draws are integers of 0 or more. */
export type ScenarioDistribution =
  | { readonly kind: 'fixed'; readonly value: number }
  | { readonly kind: 'uniform'; readonly min: number; readonly max: number }
  | { readonly kind: 'lognormal'; readonly p50: number; readonly p95: number }
  | { readonly kind: 'exponential'; readonly mean: number };

/** What an operator may decide; absent keys keep the deployment's values. The length of a session is no part of it (D10). */
export interface ScenarioPolicy {
  /** Null switches the rule off; undefined keeps the default. */
  readonly idleTimeMs?: number | null;
  readonly deletionTimeMs?: number | null;
  readonly sandboxesMax?: number;
  readonly sandboxesPerUserMax?: number;
  readonly conversationsPerSandboxMax?: number;
  readonly onFull?: 'refuse' | 'queue' | 'pause_longest_idle';
  readonly grouping?: GroupingStrategy;
  /** Absent: sandboxes are bound to no host. */
  readonly hosts?: ScenarioHosts;
}

/** The hosts of a policy, and how long one may be silent (D33). */
export interface ScenarioHosts {
  readonly strategy: HostStrategy;
  readonly leaseMs: number;
  /** From the end of its lease until it is given up. */
  readonly silentMs: number;
  readonly hosts: readonly {
    readonly name: string;
    readonly capacity: number;
    readonly labels?: HostLabels;
  }[];
}

/** Milliseconds each. */
export interface ScenarioRuntime {
  readonly boot?: ScenarioDistribution;
  readonly resume?: ScenarioDistribution;
  readonly stop?: ScenarioDistribution;
  readonly archive?: ScenarioDistribution;
  readonly remove?: ScenarioDistribution;
}

/** A quiet stretch of an agent, from `atMs` of its work on one message on: longer than the Idle Time, it is paused, unless a tool holds a lease (D9). */
export interface ScenarioGap {
  readonly atMs: number;
  readonly lengthMs: number;
  readonly leased: boolean;
}

/** How an agent works on a message, each one anew; absent keys keep the default. */
export interface ScenarioBehaviour {
  readonly duration?: ScenarioDistribution;
  readonly inputTokens?: ScenarioDistribution;
  readonly outputTokens?: ScenarioDistribution;
  /** Weights of FINISHED, ERROR, STUCK. */
  readonly outcomes?: { readonly FINISHED: number; readonly ERROR: number; readonly STUCK: number };
  readonly gaps?: readonly ScenarioGap[];
  /** Share of works that request a confirmation, and after how long a user answers; null: no user does. */
  readonly confirmation?: { readonly share: number; readonly answerAfter: ScenarioDistribution | null };
  readonly rateLimit?: { readonly share: number; readonly wait: ScenarioDistribution };
}

/** The first rule whose condition holds for an item adds to the default. */
export interface ScenarioRule {
  readonly when: Expression;
  readonly behaviour: ScenarioBehaviour;
}

/** The entity that an event is about: a key of the job, or a choice among what is up. */
export type ScenarioTarget =
  { readonly key: string } | { readonly pick: 'oldest' | 'newest' | 'longest_idle' | 'all' };

/** Something that is done to the world of a scenario. */
export type ScenarioAction =
  | { readonly do: 'crash' | 'lose' | 'disconnect' | 'reconnect'; readonly sandbox: ScenarioTarget }
  | { readonly do: 'pause' | 'resume' | 'delete'; readonly sandbox: ScenarioTarget }
  | { readonly do: 'message'; readonly conversation: ScenarioTarget; readonly text: string }
  | { readonly do: 'interrupt' | 'access' | 'confirm' | 'remove'; readonly conversation: ScenarioTarget }
  | { readonly do: 'gateway'; readonly status: number; readonly forMs: number }
  | {
      readonly do: 'host';
      readonly host: string;
      readonly is: 'lost' | 'cut_off' | 'slow' | 'drained';
      readonly forMs: number;
    }
  | { readonly do: 'cancel_run' | 'drain_run' }
  | { readonly do: 'concurrency'; readonly value: number };

/** An action at its instant. */
export interface ScenarioEvent {
  /** Milliseconds from the beginning. */
  readonly atMs: number;
  readonly action: ScenarioAction;
  readonly span: ScenarioSpan;
}

/** A place in the scenario file; lines and columns count from 1, the end is exclusive. */
export interface ScenarioSpan {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** What must hold, and when it is checked. */
export type Expectation = {
  readonly that: Expression;
  /** `warning`: it is printed and does not fail the scenario. */
  readonly level: 'error' | 'warning';
  /** Why it must hold, in the author's words; null when none were given. */
  readonly why: string | null;
  /** Its name in reports: the author's, or the expression itself. */
  readonly name: string;
  /** Of the expression in the file. */
  readonly span: ScenarioSpan;
} & (
  | { readonly kind: 'at'; readonly atMs: number; readonly withinMs: number }
  /** Holds after every step. */
  | { readonly kind: 'always' }
  /** Holds after no step. */
  | { readonly kind: 'never' }
  /** Holds at some instant within the time, counted from the beginning. */
  | { readonly kind: 'eventually'; readonly withinMs: number }
  /** Holds when the clock stops. */
  | { readonly kind: 'end' }
);

/** When whatever is listed comes: milliseconds from the beginning, or the time from one to the next. */
export type ScenarioArrivals =
  | { readonly kind: 'at'; readonly atMs: readonly number[] }
  | { readonly kind: 'gaps'; readonly gap: ScenarioDistribution; readonly count: number };

/** A compiled scenario. */
export interface Scenario {
  readonly name: string;
  readonly description: string | null;
  readonly plan: Plan;
  readonly seed: number;
  /** Epoch milliseconds. */
  readonly startAt: number;
  readonly untilMs: number;
  readonly policy: ScenarioPolicy;
  readonly runtime: ScenarioRuntime;
  readonly model: { readonly default: ScenarioBehaviour; readonly rules: readonly ScenarioRule[] };
  /** By model name as the job writes it; `default` for every other. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
  /** Probability of each kind of fault at each of its opportunities, by the name that docs/faults.md lists. */
  readonly faults: Readonly<Record<string, number>>;
  /** Items in the order of the plan, and conversations of the API; null: all items at once, and no others. */
  readonly arrivals: {
    readonly items: ScenarioArrivals | null;
    readonly conversations: ScenarioArrivals | null;
  };
  readonly events: readonly ScenarioEvent[];
  readonly expectations: readonly Expectation[];
}
