/**
 * Plays one case from beginning to end: faults strike, then the world heals, and every invariant is checked all along.
 * Owns the order of the phases and what is kept of them; the same seed and subset give the same result, byte for byte.
 */
import { type EntityAddress, addressKey } from '../../core/ids.ts';
import { HOUR_MS } from '../../core/time.ts';
import type { Violation } from '../checking.ts';
import type { FaultName } from '../faults/catalogue.ts';
import { befall, pass } from '../hosts/host-incident.ts';
import type { FaultSource, Injected, Opportunity } from '../faults/injector.ts';
import { FaultyStage } from '../faults/faulty-stage.ts';
import { RandomStream } from '../random.ts';
import { act, START_AT, type Stage } from '../script.ts';
import type { SimulationStep } from '../simulation-options.ts';
import { Trace } from '../trace.ts';
import { phaseOf } from '../view.ts';
import { actionsIn, incidentsIn, type CaseSubset } from './case-subset.ts';
import { CoverageCounter, strikesEverybody, type Coverage } from './coverage.ts';
import { EventTable } from './event-table.ts';
import { Neighbours } from './neighbours.ts';
import { hostedCase, randomCase, type CampaignCase } from './random-case.ts';
import { Reactions } from './reactions.ts';
import type { Transition } from './transitions.ts';

/** More would make every entity of the case a victim, and the transition rare. */
const WISHES_MAX = 25;
/** Not every entity that enters the phase is struck. */
const WISH_SHARE = 0.6;

/**
 * The aim of a case at work: while an entity is in the phase that the aim names, a fault of the class strikes at its
 * next opportunity, at the entity itself, at a neighbour, or at all entities.
 * Owns which wishes are open; the injector queries it beside chance.
 */
class FaultAims {
  private readonly open = new Set<string>();
  private made = 0;
  private readonly transition: Transition;
  private readonly kinds: ReadonlySet<FaultName>;
  private readonly neighbours: Neighbours;
  private readonly random: RandomStream;

  constructor(options: {
    readonly transition: Transition;
    readonly kinds: readonly FaultName[];
    readonly neighbours: Neighbours;
    readonly random: RandomStream;
  }) {
    this.transition = options.transition;
    this.kinds = new Set(options.kinds);
    this.neighbours = options.neighbours;
    this.random = options.random;
  }

  /** Called after a step that led into another phase. */
  entered({ address, sequence }: SimulationStep, phase: string): void {
    const key = addressKey(address);
    this.open.delete(key);
    if (address.machine !== this.transition.machine || phase !== this.transition.from) return;
    if (this.made >= WISHES_MAX || !this.random.split(`${key}/${sequence}`).happens(WISH_SHARE)) return;
    this.made += 1;
    this.open.add(key);
  }

  wants(fault: FaultName, { about }: Opportunity): boolean {
    if (this.open.size === 0 || !this.kinds.has(fault)) return false;
    const struck = about === null || strikesEverybody(fault) ? null : addressKey(about);
    for (const key of this.open) {
      if (struck !== null && struck !== key && !this.neighbours.areNext(struck, key)) continue;
      this.open.delete(key);
      return true;
    }
    return false;
  }
}

interface CaseOptions {
  readonly seed: number;
  /** A part of the case; absent: all of it. */
  readonly keep?: CaseSubset;
  /** True: sandboxes live on hosts, and hosts fail; else the case is without. */
  readonly hosts?: boolean;
  /** True: one line per event is kept. */
  readonly table?: boolean;
}

/** What a case did, and which invariant it broke. */
export interface CaseResult {
  readonly seed: number;
  /** In order of their instants; empty when every invariant holds. */
  readonly violations: readonly Violation[];
  /** Steps of machines, silent ones included. */
  readonly events: number;
  readonly simulatedMs: number;
  readonly injected: readonly Injected[];
  readonly coverage: Coverage;
  /** Over every step. */
  readonly hash: string;
  /** Empty unless requested. */
  readonly table: readonly string[];
}

/** Name of the violation when a step throws, or when a case has no end. */
const THROWN = 'thrown';
/** Polls and events of one case: far more than any has, and fewer than would take too long. */
const PLAYED_MAX = 600_000;
/** So often the number of played events is checked. */
const SLICE_MS = HOUR_MS;

/** Plays one case to its end, with every checker. */
export function runCase({ seed, keep = {}, hosts = false, table = false }: CaseOptions): CaseResult {
  return new CasePlay(hosts ? hostedCase(seed) : randomCase(seed), keep, table).play();
}

class CasePlay {
  private readonly played: CampaignCase;
  private readonly keep: CaseSubset;
  private readonly stage: FaultyStage;
  private readonly trace = new Trace(null);
  private readonly neighbours = new Neighbours();
  private readonly counter = new CoverageCounter(this.neighbours);
  private readonly reactions: Reactions;
  private readonly aims: FaultAims | null;
  private readonly table: EventTable | null;

  constructor(played: CampaignCase, keep: CaseSubset, table: boolean) {
    this.played = played;
    this.keep = keep;
    const random = new RandomStream(played.seed);
    const { policy, models, seed, aim } = played;
    this.table = table ? new EventTable(START_AT) : null;
    this.reactions = new Reactions(played.reactions, random.split('reactions'), keep.reactions ?? null);
    this.stage = new FaultyStage({
      startAt: START_AT,
      models,
      policy,
      seed,
      faults: faultsOf(played, keep),
      onStep: (step) => this.sees(step),
      onInjected: (injected) => this.injected(injected),
      checks: true,
    });
    this.aims =
      aim?.kind === 'pair' && keep.faults === undefined
        ? new FaultAims({
            transition: aim.pair.transition,
            kinds: played.aimedKinds,
            neighbours: this.neighbours,
            random: random.split('wishes'),
          })
        : null;
    const { aims } = this;
    if (aims !== null) this.stage.injector.aim((fault, opportunity) => aims.wants(fault, opportunity));
  }

  play(): CaseResult {
    const { stage, played, keep } = this;
    const thrown = this.playPhases();
    const violations = thrown === null ? stage.violations : [...stage.violations, thrown];
    return {
      seed: played.seed,
      violations,
      events: stage.simulation.events,
      simulatedMs: (keep.safetyMs ?? played.safetyMs) + (keep.healingMs ?? played.healingMs),
      injected: stage.injector.injected,
      coverage: this.counter.coverage,
      hash: this.trace.hash,
      table: this.table?.lines ?? [],
    };
  }

  /** A step that throws is a finding like any other. */
  private playPhases(): Violation | null {
    const { stage, played, keep } = this;
    const { simulation, world } = stage;
    const isCreated = (to: EntityAddress): boolean => simulation.stateOf(to) !== null;
    const people: Stage = { world, deliver: (to, event) => stage.deliver(to, event), isCreated };
    for (const { atMs, action, number } of actionsIn(played, keep))
      simulation.script(START_AT + atMs, () => act(people, action, number));
    const healAt = START_AT + (keep.safetyMs ?? played.safetyMs);
    this.planIncidents(healAt);
    try {
      this.advanceTo(healAt);
      stage.heal();
      this.advanceTo(healAt + (keep.healingMs ?? played.healingMs));
      stage.end();
      return null;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { name: THROWN, at: simulation.now(), sequence: this.trace.lines, entity: 'none', problem };
    }
  }

  /** Nothing happens to hosts any more once the world heals. */
  private planIncidents(healAt: number): void {
    const { simulation, world } = this.stage;
    const { hosts } = world;
    if (hosts === null) return;
    const plan = (at: number, run: () => void): void => {
      if (at < healAt) simulation.script(at, run);
    };
    for (const { atMs, incident } of incidentsIn(this.played, this.keep)) {
      plan(START_AT + atMs, () => befall(hosts, incident));
      plan(START_AT + atMs + incident.forMs, () => pass(hosts, incident));
    }
  }

  /** @throws Error when there is no end to what happens */
  private advanceTo(end: number): void {
    const { stage } = this;
    const { simulation } = stage;
    while (simulation.now() < end) {
      stage.advanceTo(Math.min(end, simulation.now() + SLICE_MS));
      if (simulation.played > PLAYED_MAX)
        throw new Error(`Cannot play on: more than ${PLAYED_MAX} looks and events`);
    }
  }

  private sees(step: SimulationStep): void {
    this.trace.add(step);
    this.table?.add(step);
    this.neighbours.sees(step);
    this.counter.sees(step);
    const phase = phaseOf(step.after);
    if (phase === null || phase === phaseOf(step.before)) return;
    this.aims?.entered(step, phase);
    this.reactions.entered(step, phase, this.stage);
  }

  private injected(injected: Injected): void {
    this.counter.injected(injected);
    this.table?.struck(injected);
    this.reactions.struck(injected, this.stage);
  }
}

function faultsOf({ mix }: CampaignCase, { faults }: CaseSubset): FaultSource {
  return faults === undefined ? { kind: 'mix', mix } : { kind: 'schedule', keys: new Set(faults) };
}
