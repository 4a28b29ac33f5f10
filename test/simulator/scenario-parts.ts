/**
 * Scenarios for tests of the player: expressions are functions, so that what is tested is the player.
 * Owns first values; a test changes what it is about.
 */
import { ParleyError } from '../../core/parley-error.ts';
import { HOUR_MS } from '../../core/time.ts';
import type { Expression } from '../../dsl/expression/expression.ts';
import type { Observation } from '../../dsl/expression/observation.ts';
import type { Expectation, Scenario } from '../../dsl/scenario/scenario.ts';
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_STEADY } from '../../simulator/models/model-options.ts';
import {
  playScenario,
  type ScenarioAnswer,
  type ScenarioQuestion,
} from '../../simulator/scenario/play-scenario.ts';
import { plan, POLICY } from '../conformance/script-parts.ts';

export const SPAN = { line: 3, column: 9, endLine: 3, endColumn: 20 };

/** `parts` are explained with the values that the functions give. */
export function expression(
  source: string,
  test: (seen: Observation) => boolean,
  parts: Readonly<Record<string, (seen: Observation) => unknown>> = {},
): Expression {
  const seenOf = (values: Readonly<Record<string, unknown>>) => values['seen'] as Observation;
  return {
    source,
    evaluate: (values) => test(seenOf(values)),
    explain: (values) =>
      Object.entries(parts).map(([part, read]) => ({ source: part, value: read(seenOf(values)) })),
  };
}

export function impossible(source: string): Expression {
  return {
    source,
    evaluate: () => {
      throw new ParleyError('expression_failed', `Cannot evaluate "${source}": there is no such key`);
    },
    explain: () => [],
  };
}

type When = { [Kind in Expectation['kind']]: Omit<Extract<Expectation, { kind: Kind }>, keyof Common> };
interface Common {
  readonly that: unknown;
  readonly level: unknown;
  readonly why: unknown;
  readonly name: unknown;
  readonly span: unknown;
}

export function expectation(when: When[Expectation['kind']], that: Expression): Expectation {
  return { ...when, that, level: 'error', why: null, name: that.source, span: SPAN } as Expectation;
}

/** Fixed times, no chance, twenty minutes of Idle Time: the first works 13 hours, the second 18 minutes. */
export function scenario(change: Partial<Scenario> = {}): Scenario {
  const first: Expression = {
    source: "item.key == 'item-0'",
    evaluate: (values) => values['key'] === 'item-0',
    explain: () => [],
  };
  return {
    name: 'nights',
    description: null,
    plan: plan(2),
    seed: 1,
    startAt: 1_700_000_000_000,
    untilMs: 30 * HOUR_MS,
    policy: {},
    runtime: {},
    model: {
      default: { gaps: [] },
      rules: [{ when: first, behaviour: { duration: fixed(13 * HOUR_MS) } }],
    },
    prices: {},
    faults: {},
    arrivals: { items: null, conversations: null },
    events: [],
    expectations: [],
    ...change,
  };
}

export function playing(
  change: Partial<Scenario> = {},
  more: Partial<ScenarioQuestion> = {},
): ScenarioAnswer {
  return playScenario({
    scenario: scenario(change),
    defaults: { policy: POLICY, models: MODELS_STEADY },
    itemValues: ({ key }) => ({ key }),
    // A copy: what is seen may be read only until the play goes on.
    observationValues: (seen) => ({ seen: { ...seen } }),
    ...more,
  });
}

/** The one observation that is seen at an instant. */
export function seenAt(atMs: number, change: Partial<Scenario> = {}): Observation {
  const kept: Observation[] = [];
  const that = expression('look', (seen) => kept.push(seen) > 0);
  playing({ ...change, expectations: [expectation({ kind: 'at', atMs, withinMs: 0 }, that)] });
  const [seen] = kept;
  if (seen === undefined) throw new Error('Cannot look: nothing was asked');
  return seen;
}
