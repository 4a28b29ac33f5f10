/**
 * A scenario on the virtual clock: its plan under its policy, what happens when, and what held.
 * Owns the loop and the shape of the answer; a failed expectation is data, and so is one that cannot be evaluated.
 */
import type { EntityAddress } from '../../core/ids.ts';
import { asParleyError } from '../../core/parley-error.ts';
import type { PartValue, Value } from '../../dsl/expression/expression.ts';
import type { Observation, ConversationSeen } from '../../dsl/expression/observation.ts';
import type { Expectation, Scenario, ScenarioEvent, ScenarioArrivals } from '../../dsl/scenario/scenario.ts';
import { drawAs } from '../models/distribution.ts';
import { slotsMaxOf } from '../models/model-options.ts';
import { PlanPlay, type OpenStage, type PlanPlayOptions } from '../plan-play.ts';
import { answerOf, type PlanAnswer } from '../simulate-plan.ts';
import { RandomStream } from '../random.ts';
import { act } from '../script.ts';
import { ExpectationWatch, type Asked, type Look } from './expectation-watch.ts';
import { LastEvents, type PastEvent } from './last-events.ts';
import { Observer } from './observer.ts';
import { strike } from './scenario-action.ts';
import { settingOf, type ItemValues, type ScenarioDefaults } from './scenario-setting.ts';

/** How the language shows plan items and observations to expressions. */
export interface ScenarioLanguage {
  readonly itemValues: ItemValues;
  readonly observationValues: (seen: Observation) => Readonly<Record<string, Value>>;
}

export interface ScenarioQuestion extends ScenarioLanguage {
  readonly scenario: Scenario;
  /** What holds where the scenario says nothing. */
  readonly defaults: ScenarioDefaults;
  /** Instead of the scenario's own. */
  readonly seed?: number;
  /** Virtual time at most, in milliseconds, instead of the scenario's own. */
  readonly untilMs?: number;
  readonly onTraceLine?: (line: string) => void;
  /** True: slots and spend are sampled on the way. */
  readonly curves?: boolean;
  /** Another driver than the simulator's, for a scenario without faults. */
  readonly stage?: OpenStage;
}

/** The result of one expectation. */
export interface ExpectationResult {
  readonly expectation: Expectation;
  readonly held: boolean;
  /** When it was found not to hold, in milliseconds from the beginning; null when it held. */
  readonly failedAfterMs: number | null;
  /** Its operands with what they were then; empty when it held. */
  readonly values: readonly PartValue[];
  /** Why it could not be evaluated; null when it could. */
  readonly reason: string | null;
  /** Of the entities it is about, else of the one that moved last; empty when it held. */
  readonly events: readonly PastEvent[];
}

/** The outcome of a scenario. */
export interface ScenarioAnswer {
  readonly plan: PlanAnswer;
  /** In the order of the file. */
  readonly expectations: readonly ExpectationResult[];
  /** Events for which there was no entity. */
  readonly missed: readonly ScenarioEvent[];
  readonly seed: number;
  /** Capacity slots that the run could hold at once. */
  readonly slotsMax: number;
}

type Failure = Pick<ExpectationResult, 'values' | 'events'>;

/** @throws ParleyError expression_failed when the condition of a rule cannot be evaluated for an item */
export function playScenario(question: ScenarioQuestion): ScenarioAnswer {
  return new ScenarioPlay(question).answer();
}

class ScenarioPlay {
  private readonly question: ScenarioQuestion;
  private readonly play: PlanPlay;
  private readonly observer: Observer;
  private readonly last = new LastEvents();
  private readonly watches: readonly ExpectationWatch[];
  private readonly failures = new Map<ExpectationWatch, Failure>();
  private readonly missed: ScenarioEvent[] = [];
  private changed = true;

  constructor(question: ScenarioQuestion) {
    const { scenario, defaults, itemValues } = question;
    this.question = question;
    this.watches = scenario.expectations.map((expectation) => new ExpectationWatch(expectation));
    this.play = new PlanPlay(this.options(settingOf(scenario, defaults, itemValues)));
    this.observer = new Observer(scenario.plan, this.play.startAt);
    for (const [index, event] of scenario.events.entries()) this.plan(event, `event-${index + 1}`);
    this.planArrivals(scenario);
  }

  answer(): ScenarioAnswer {
    const { startAt } = this.play;
    const untilMs = this.question.untilMs ?? this.question.scenario.untilMs;
    const bounds = this.watches.flatMap(({ boundsMs }) => boundsMs).filter((ms) => ms <= untilMs);
    for (const boundMs of [...new Set([...bounds, untilMs])].sort((a, b) => a - b)) {
      this.playTo(startAt + boundMs);
      this.changed = true;
      this.afterInstant();
    }
    const asked = this.asked();
    for (const watch of this.watches) this.ask(watch, () => watch.end(asked));
    this.play.end();
    return {
      plan: answerOf(this.play, startAt),
      expectations: this.watches.map((watch) => this.resultOf(watch)),
      missed: this.missed,
      seed: this.seed,
      slotsMax: slotsMaxOf(this.play.world.policy.capacity),
    };
  }

  private get seed(): number {
    return this.question.seed ?? this.question.scenario.seed;
  }

  private options(setting: ScenarioDefaults): PlanPlayOptions {
    const { scenario, onTraceLine, curves, stage } = this.question;
    return {
      ...setting,
      plan: scenario.plan,
      faults: scenario.faults,
      seed: this.seed,
      startAt: scenario.startAt,
      arrivals: arrivalOffsets(scenario.arrivals.items, this.chance('arrivals/items')),
      checks: true,
      ...(curves === undefined ? {} : { curves }),
      ...(stage === undefined ? {} : { stage }),
      ...(onTraceLine === undefined ? {} : { onTraceLine }),
      onStep: (step) => {
        this.last.add(step);
        if (!this.observer.see(step)) return;
        this.changed = true;
        this.afterStep();
      },
    };
  }

  private plan(event: ScenarioEvent, requestId: string): void {
    this.play.simulation.script(this.play.startAt + event.atMs, () => {
      if (strike(this.play, event.action, requestId) === 0) this.missed.push(event);
    });
  }

  private chance(name: string): RandomStream {
    return new RandomStream(this.seed).split(name);
  }

  /** A client starts a conversation over the API, as the deployment places those that say nothing. */
  private planArrivals({ arrivals }: Scenario): void {
    const { simulation, world, startAt } = this.play;
    const offsets = arrivalOffsets(arrivals.conversations, this.chance('arrivals/conversations'));
    for (const [index, offsetMs] of offsets.entries())
      simulation.script(startAt + offsetMs, () => {
        const deliver = simulation.deliver.bind(simulation);
        // No key of an item has a blank: rules over items are not about it.
        act({ world, deliver }, { do: 'start', name: `arrival ${index + 1}` }, index);
      });
  }

  /** From one instant at which something happens to the next, and an observation after each. */
  private playTo(end: number): void {
    const { simulation } = this.play;
    for (let at = simulation.nextAt; at !== null && at <= end; at = simulation.nextAt) {
      this.play.advanceTo(at);
      this.afterInstant();
    }
    this.play.advanceTo(end);
  }

  private afterStep(): void {
    const open = this.watches.filter(({ watchesSteps }) => watchesSteps);
    if (open.length === 0) return;
    const asked = this.asked();
    for (const watch of open) this.ask(watch, () => watch.afterStep(asked));
  }

  private afterInstant(): void {
    if (!this.changed) return;
    this.changed = false;
    const open = this.watches.filter(({ verdict }) => verdict === null);
    if (open.length === 0) return;
    const asked = this.asked();
    for (const watch of open) this.ask(watch, () => watch.afterInstant(asked));
  }

  /** Operands and what led to a failure are kept at once: later steps change the ones and push out the others. */
  private ask(watch: ExpectationWatch, look: () => void): void {
    if (watch.verdict !== null) return;
    look();
    const { verdict } = watch as { readonly verdict: ExpectationWatch['verdict'] };
    if (verdict?.held !== false) return;
    const { source } = watch.expectation.that;
    const values = verdict.look.kind === 'value' ? verdict.look.values() : [];
    const whom = concernedBy({ source, values }, this.observer.observe(this.play), this.last.latest);
    this.failures.set(watch, { values, events: this.shifted(this.last.of(whom)) });
  }

  /** As if the clock had begun where the scenario says: another driver's begins where it must. */
  private shifted(events: readonly PastEvent[]): readonly PastEvent[] {
    const ms = this.question.scenario.startAt - this.play.startAt;
    return ms === 0 ? events : events.map((event) => ({ ...event, at: event.at + ms }));
  }

  /** Observed at most once, and no more of it than an expression reads. */
  private asked(): Asked {
    const { observationValues } = this.question;
    let values: Readonly<Record<string, Value>> | null = null;
    return {
      elapsedMs: this.play.simulation.now() - this.play.startAt,
      look: ({ that }) => {
        values ??= observationValues(this.observer.observe(this.play));
        return lookAt(that, values);
      },
    };
  }

  private resultOf(watch: ExpectationWatch): ExpectationResult {
    const { expectation, verdict } = watch;
    if (verdict === null) throw new Error(`Cannot answer: "${expectation.name}" was never decided`);
    if (verdict.held)
      return { expectation, held: true, failedAfterMs: null, values: [], reason: null, events: [] };
    const { look, elapsedMs } = verdict;
    return {
      expectation,
      held: false,
      failedAfterMs: elapsedMs,
      reason: look.kind === 'impossible' ? look.reason : null,
      ...(this.failures.get(watch) ?? { values: [], events: [] }),
    };
  }
}

/** Operands are explained for failures only, and before the play goes on. */
function lookAt(that: Expectation['that'], values: Readonly<Record<string, Value>>): Look {
  try {
    return { kind: 'value', holds: that.evaluate(values) === true, values: () => that.explain(values) };
  } catch (error) {
    const { code, message } = asParleyError(error);
    if (code === 'internal') throw error;
    return { kind: 'impossible', reason: message };
  }
}

/** In the order of the items or conversations they are for; gaps add up, what is written is taken as it is. */
export function arrivalOffsets(arrivals: ScenarioArrivals | null, random: RandomStream): readonly number[] {
  if (arrivals === null) return [];
  if (arrivals.kind === 'at') return arrivals.atMs;
  let at = 0;
  return Array.from(
    { length: arrivals.count },
    (_, index) => (at += drawAs(arrivals.gap, random, `gap/${index}`)),
  );
}

const QUOTED = /'([^'\\]*)'|"([^"\\]*)"/g;

interface Expressed {
  readonly source: string;
  /** Its operands: where a list of conversations or sandboxes is among them, its first member is named too. */
  readonly values: readonly PartValue[];
}

/** The conversations and sandboxes that an expression names. */
function concernedBy(
  { source, values }: Expressed,
  seen: Observation,
  latest: EntityAddress | null,
): EntityAddress[] {
  const quoted = [...source.matchAll(QUOTED)].map(([, single, double]) => single ?? double ?? '');
  const names = new Set([...quoted, ...values.flatMap(({ value }) => firstName(value))]);
  const convs = seen.convs.filter(({ key, id }) => names.has(key) || (id !== '' && names.has(id)));
  const sandboxes = seen.sandboxes.filter(({ id }) => names.has(id));
  const named = [...convs.flatMap(addressesOf), ...sandboxes.map(({ id }) => sandboxAddress(id))];
  return named.length > 0 || latest === null ? named : [latest];
}

function firstName(value: unknown): string[] {
  const first: unknown = Array.isArray(value) ? value[0] : null;
  if (typeof first !== 'object' || first === null) return [];
  const { key, id } = first as { readonly key?: unknown; readonly id?: unknown };
  const name = key ?? id;
  return typeof name === 'string' ? [name] : [];
}

function addressesOf({ id, sandbox }: ConversationSeen): EntityAddress[] {
  const conversation: EntityAddress[] = id === '' ? [] : [{ machine: 'conversation', id }];
  return sandbox === '' ? conversation : [...conversation, sandboxAddress(sandbox)];
}

function sandboxAddress(id: string): EntityAddress {
  return { machine: 'sandbox', id };
}
