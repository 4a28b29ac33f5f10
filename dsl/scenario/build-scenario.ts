/**
 * A checked scenario file as the scenario that is played.
 * Owns the defaults of a scenario; must not find anything wrong.
 */
import { instantFromText } from '../../core/text/instant-text.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { GroupingStrategy } from '../../core/status.ts';
import { DAY_MS, MINUTE_MS } from '../../core/time.ts';
import { defined } from '../defined.ts';
import type { Report } from '../check/report.ts';
import type { Expression } from '../expression/expression.ts';
import { parseRate } from '../plan/build-admission.ts';
import { childOf, treeAt, type Tree } from '../read/tree.ts';
import type { ArrivalsDocument } from './arrivals-schema.ts';
import type { BehaviourDocument, RuntimeDocument } from './behaviour-schema.ts';
import { conditionIn, type Conditions } from './conditions.ts';
import { distributionOf, lengthMs, priceOf, tokenCount } from './figures.ts';
import type {
  Scenario,
  ScenarioBehaviour,
  ScenarioHosts,
  ScenarioPolicy,
  ScenarioRule,
  ScenarioRuntime,
  ScenarioSpan,
  ScenarioArrivals,
  ScenarioAction,
  ScenarioEvent,
  ScenarioTarget,
  Expectation,
} from './scenario.ts';
import {
  type ScenarioDocument,
  type EventDocument,
  EXPECTATION_KEYS,
  type ExpectationDocument,
} from './scenario-schema.ts';
import { START_AT_DEFAULT } from './start-at.ts';

/** Long enough for every job that is not held up by a limit of days. */
const UNTIL_DEFAULT_MS = 2 * DAY_MS;
const SEED_DEFAULT = 1;
/** Those of a deployment. */
const LEASE_DEFAULT_MS = MINUTE_MS;
const LOST_AFTER_DEFAULT_MS = 5 * MINUTE_MS;

interface Checked {
  readonly document: ScenarioDocument;
  readonly root: Tree;
  readonly report: Report;
  readonly plan: Plan;
  readonly conditions: Conditions;
}

export function buildScenario({ document, root, report, plan, conditions }: Checked): Scenario {
  const { clock, policy, model, runtime } = document;
  const untilMs = clock?.until === undefined ? UNTIL_DEFAULT_MS : lengthMs(clock.until);
  const startAt = (clock?.start === undefined ? null : instantFromText(clock.start)) ?? START_AT_DEFAULT;
  const spanOf = (tree: Tree | undefined): ScenarioSpan => placed(tree, report);
  const treesOf = (path: readonly string[], index: number): Tree | undefined =>
    treeAt(root, [...path, index]);
  return {
    name: document.name,
    description: document.description ?? null,
    plan,
    seed: document.seed ?? SEED_DEFAULT,
    startAt,
    untilMs,
    policy: buildPolicy(policy ?? {}),
    runtime: buildRuntime(runtime ?? {}),
    model: {
      default: buildBehaviour(model?.default ?? {}),
      rules: (model?.where ?? []).flatMap((rule, index): ScenarioRule[] => {
        const when = conditionIn(treesOf(['model', 'where'], index), 'when', conditions);
        return when === null ? [] : [{ when, behaviour: buildBehaviour(rule) }];
      }),
    },
    prices: Object.fromEntries(
      Object.entries(document.prices ?? {}).map(([name, price]) => [name, priceOf(price)]),
    ),
    faults: document.faults ?? {},
    arrivals: {
      items: buildArrivals(document.arrivals?.items, { startAt, count: plan.items.length }),
      conversations: buildArrivals(document.arrivals?.conversations, { startAt, count: 0 }),
    },
    events: (document.events ?? []).flatMap((event, index) => {
      const tree = treesOf(['events'], index);
      return buildEvent(event, spanOf(tree)) ?? [];
    }),
    expectations: (document.expect ?? []).flatMap((expectation, index) => {
      const tree = treesOf(['expect'], index);
      const condition = (key: string) => {
        const that = conditionIn(tree, key, conditions);
        return that === null ? null : { that, span: spanOf(childOf(tree, key)) };
      };
      return buildExpectation(expectation, { untilMs, condition }) ?? [];
    }),
  };
}

function placed(tree: Tree | undefined, { lines }: Report): ScenarioSpan {
  const start = lines.position(tree?.span.start ?? 0);
  const end = lines.position(tree?.span.end ?? 0);
  return { line: start.line, column: start.column, endLine: end.line, endColumn: end.column };
}

function buildPolicy(policy: PolicyDocument): ScenarioPolicy {
  const { idle_time: idle, deletion_time: deletion, capacity, grouping } = policy;
  return defined({
    idleTimeMs: idle === undefined ? undefined : limitMs(idle),
    deletionTimeMs: deletion === undefined ? undefined : limitMs(deletion),
    sandboxesMax: capacity?.sandboxes,
    sandboxesPerUserMax: capacity?.sandboxes_per_user,
    conversationsPerSandboxMax: capacity?.conversations_per_sandbox,
    onFull: capacity?.on_full,
    grouping: grouping?.toUpperCase() as GroupingStrategy | undefined,
    hosts: policy.hosts && buildHosts(policy.hosts, policy.host ?? {}),
  });
}

type PolicyDocument = NonNullable<ScenarioDocument['policy']>;

function buildHosts(
  hosts: NonNullable<PolicyDocument['hosts']>,
  { placement, lease, lost_after: lostAfter }: NonNullable<PolicyDocument['host']>,
): ScenarioHosts {
  return {
    strategy: placement ?? 'spread',
    leaseMs: lease === undefined ? LEASE_DEFAULT_MS : lengthMs(lease),
    silentMs: lostAfter === undefined ? LOST_AFTER_DEFAULT_MS : lengthMs(lostAfter),
    hosts: Object.entries(hosts).map(([name, { capacity, labels }]) => ({
      ...{ name, capacity },
      ...(labels === undefined ? {} : { labels }),
    })),
  };
}

/** 0 switches a limit off, as it does in the deployment. */
function limitMs(text: string): number | null {
  return text === 'none' || lengthMs(text) === 0 ? null : lengthMs(text);
}

function buildRuntime({ sandbox }: RuntimeDocument): ScenarioRuntime {
  const times = Object.entries(sandbox ?? {}).flatMap(([name, written]) =>
    written === undefined ? [] : [[name, distributionOf(written, lengthMs)] as const],
  );
  return Object.fromEntries(times);
}

function buildBehaviour(written: BehaviourDocument): ScenarioBehaviour {
  const { duration, outcome, gaps, confirmation, rate_limit: limit } = written;
  const { input_tokens: input, output_tokens: output } = written;
  return defined({
    duration: duration && distributionOf(duration, lengthMs),
    inputTokens: input && distributionOf(input, tokenCount),
    outputTokens: output && distributionOf(output, tokenCount),
    outcomes: outcome && { FINISHED: 0, ERROR: 0, STUCK: 0, ...defined(outcome) },
    gaps: gaps?.map(({ at, idle, lease }) => ({
      atMs: lengthMs(at),
      lengthMs: lengthMs(idle),
      leased: lease ?? false,
    })),
    confirmation: confirmation && {
      share: confirmation.share,
      answerAfter: confirmation.answer_after ? distributionOf(confirmation.answer_after, lengthMs) : null,
    },
    rateLimit: limit && { share: limit.share, wait: distributionOf(limit.wait, lengthMs) },
  });
}

type Written = NonNullable<ArrivalsDocument['conversations']>;

/** `count`: how many come where the file does not say it. */
function buildArrivals(
  written: Written | undefined,
  { startAt, count }: { readonly startAt: number; readonly count: number },
): ScenarioArrivals | null {
  if (written === undefined) return null;
  const { rate, every, at } = written;
  if (at !== undefined) return { kind: 'at', atMs: at.map((moment) => offsetOf(moment, startAt)) };
  const gap =
    every === undefined
      ? ({ kind: 'exponential', mean: parseRate(rate ?? '') ?? 0 } as const)
      : distributionOf(every, lengthMs);
  return { kind: 'gaps', gap, count: written.count ?? count };
}

function offsetOf(moment: string, startAt: number): number {
  const instant = instantFromText(moment);
  return instant === null ? lengthMs(moment) : Math.max(0, instant - startAt);
}

/** Null for an event without an action or target: that was said. */
function buildEvent(event: EventDocument, span: ScenarioSpan): ScenarioEvent | null {
  const action = actionOf(event);
  return action === null ? null : { atMs: lengthMs(event.at), action, span };
}

function actionOf(event: EventDocument): ScenarioAction | null {
  const { sandbox, conversation, message, gateway, host, run, concurrency } = event;
  const target = targetOf(event);
  if (gateway !== undefined) return { do: 'gateway', status: gateway.status, forMs: lengthMs(gateway.for) };
  if (host !== undefined) return { do: 'host', host: host.name, is: host.is, forMs: lengthMs(host.for) };
  if (run !== undefined) return { do: run === 'cancel' ? 'cancel_run' : 'drain_run' };
  if (concurrency !== undefined) return { do: 'concurrency', value: concurrency };
  if (target === null) return null;
  if (message !== undefined) return { do: 'message', conversation: target, text: message.text };
  if (conversation !== undefined) return { do: conversation, conversation: target };
  return sandbox === undefined ? null : { do: sandbox, sandbox: target };
}

function targetOf({ key, message, pick }: EventDocument): ScenarioTarget | null {
  const named = key ?? message?.to;
  if (named !== undefined) return { key: named };
  return pick === undefined ? null : { pick };
}

interface ExpectationContext {
  readonly untilMs: number;
  /** The compiled expression of a key, with its place. */
  condition(key: string): { readonly that: Expression; readonly span: ScenarioSpan } | null;
}

/** Null for an expectation without an expression: that was said. */
function buildExpectation(
  written: ExpectationDocument,
  { untilMs, condition }: ExpectationContext,
): Expectation | null {
  const kind = EXPECTATION_KEYS.find((key) => written[key] !== undefined);
  const found = kind === undefined ? null : condition(kind === 'at' ? 'that' : kind);
  if (kind === undefined || found === null) return null;
  const { within, name, why, level } = written;
  const about = {
    ...found,
    level: level === 'warn' ? ('warning' as const) : ('error' as const),
    why: why ?? null,
    name: name ?? found.that.source,
  };
  switch (kind) {
    case 'at':
      return { ...about, kind, atMs: lengthMs(written.at ?? ''), withinMs: lengthMs(within ?? '0s') };
    case 'eventually':
      return { ...about, kind, withinMs: within === undefined ? untilMs : lengthMs(within) };
    case 'always':
    case 'never':
    case 'end':
      return { ...about, kind };
  }
}
