/**
 * The policy and the world of a scenario: what the file says, over what the deployment and the models have.
 * Owns the merging; must not play anything. What the file does not let fail, succeeds: a test that chance can fail
 * without being asked says nothing about a policy.
 */
import type { PlanItem } from '../../core/plan/plan.ts';
import type { Value } from '../../dsl/expression/expression.ts';
import type { Scenario, ScenarioBehaviour } from '../../dsl/scenario/scenario.ts';
import { fixed } from '../models/distribution.ts';
import type { AgentBehaviour, ModelOptions, Policy } from '../models/model-options.ts';

export interface ScenarioDefaults {
  readonly policy: Policy;
  readonly models: ModelOptions;
}

/** The names that the condition of a rule may use, for one item. */
export type ItemValues = (item: PlanItem) => Readonly<Record<string, Value>>;

/** @throws ParleyError expression_failed when the condition of a rule cannot be evaluated for an item */
export function settingOf(
  scenario: Scenario,
  defaults: ScenarioDefaults,
  itemValues: ItemValues,
): ScenarioDefaults {
  return {
    policy: policyOf(scenario, defaults.policy),
    models: modelsOf(scenario, defaults.models, itemValues),
  };
}

/** Null is a value of its own here: it switches a rule off. */
function policyOf(
  { policy: given, plan }: Pick<Scenario, 'policy' | 'plan'>,
  { limits, capacity, onFull, grouping }: Policy,
): Policy {
  const { host: name, labels } = plan.placement;
  return {
    limits: {
      idleTimeMs: given.idleTimeMs === undefined ? limits.idleTimeMs : given.idleTimeMs,
      deletionTimeMs: given.deletionTimeMs === undefined ? limits.deletionTimeMs : given.deletionTimeMs,
    },
    capacity: {
      ...capacity,
      installationMax: given.sandboxesMax ?? capacity.installationMax,
      userMax: given.sandboxesPerUserMax ?? capacity.userMax,
      conversationsPerSandboxMax: given.conversationsPerSandboxMax ?? capacity.conversationsPerSandboxMax,
    },
    onFull: given.onFull ?? onFull,
    grouping: given.grouping ?? grouping,
    // One run is played: what its job asks of hosts is asked of every new sandbox.
    ...(given.hosts === undefined ? {} : { hosts: { ...given.hosts, pin: { name, labels } } }),
  };
}

function modelsOf(scenario: Scenario, models: ModelOptions, itemValues: ItemValues): ModelOptions {
  const { runtime, model, plan, prices } = scenario;
  const agent = behaviourWith(models.agent, model.default);
  const byKey = new Map<string, AgentBehaviour>();
  for (const item of plan.items) {
    const values = itemValues(item);
    const rule = model.rules.find(({ when }) => when.evaluate(values) === true);
    if (rule !== undefined) byKey.set(item.key, behaviourWith(agent, rule.behaviour));
  }
  return {
    ...models,
    runtime: {
      boot: runtime.boot ?? models.runtime.boot,
      resume: runtime.resume ?? models.runtime.resume,
      stop: runtime.stop ?? models.runtime.stop,
      archive: runtime.archive ?? models.runtime.archive,
      destroy: runtime.remove ?? models.runtime.destroy,
    },
    agent,
    agentRules: [],
    agentByKey: byKey,
    failures: {},
    checkFails: 0,
    prices: { ...models.prices, ...prices },
  };
}

function behaviourWith(base: AgentBehaviour, given: ScenarioBehaviour): AgentBehaviour {
  return {
    work: given.duration ?? base.work,
    outcomes: given.outcomes ?? base.outcomes,
    rateLimit: given.rateLimit ?? base.rateLimit,
    confirmation: given.confirmation ?? base.confirmation,
    inputTokens: given.inputTokens ?? base.inputTokens,
    outputTokens: given.outputTokens ?? base.outputTokens,
    ...quietWith(base, given),
  };
}

/** Gaps that are written replace the quiet stretches of chance. */
function quietWith(
  base: AgentBehaviour,
  { gaps }: ScenarioBehaviour,
): Pick<AgentBehaviour, 'quiet' | 'gaps'> {
  if (gaps !== undefined) return { quiet: { share: 0, length: fixed(0), leased: 0 }, gaps };
  return { quiet: base.quiet, ...(base.gaps === undefined ? {} : { gaps: base.gaps }) };
}
