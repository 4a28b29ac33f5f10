/** A small world with faults by name: one conversation, its sandbox, and what was seen of both. Owns the wiring and the base script. */
import type { ConversationState } from '../../core/conversation/state.ts';
import { addressKey } from '../../core/ids.ts';
import type { ActivityCommandType, MachineEvent } from '../../core/machine/command.ts';
import { FaultyStage, type FaultyStageOptions } from '../../simulator/faults/faulty-stage.ts';
import type { FaultName } from '../../simulator/faults/catalogue.ts';
import { conversationIdNamed, sandboxIdOf } from '../../simulator/models/derived-id.ts';
import { MODELS_STEADY, type ModelOptions } from '../../simulator/models/model-options.ts';
import { act, START_AT } from '../../simulator/script.ts';
import { D, H, POLICY, S, start, type TimedStep } from '../conformance/script-parts.ts';

export const TALK = conversationIdNamed('a');
export const BOX = sandboxIdOf(TALK, 0);

/** Works 18 minutes, is paused for idleness, works again in a second incarnation, and is deleted. */
export const LIFE: readonly TimedStep[] = [
  [0, start('a')],
  [2 * H, { do: 'message', name: 'a' }],
  [6 * H, { do: 'delete', of: 'a' }],
];

export interface Seen {
  readonly atMs: number;
  readonly entity: string;
  readonly event: MachineEvent;
}

export interface Played {
  readonly stage: FaultyStage;
  readonly seen: readonly Seen[];
  /** Ids of the commands that were ordered, in order, by type. */
  readonly ordered: ReadonlyMap<ActivityCommandType, readonly string[]>;
  /** Names of the faults that struck. */
  readonly struck: readonly FaultName[];
  /** First sampled instant at which it holds, in milliseconds from the beginning; null for never. */
  firstOf(holds: (stage: FaultyStage) => boolean, everyMs: number): number | null;
  /** Whether the runtime of the conversation's sandbox is up at that instant. */
  liveAt(atMs: number): boolean;
  /** What the conversation remembers at that instant. */
  stateAt<Value>(atMs: number, pick: (state: ConversationState) => Value): Value;
  /** Whether an object without an owner stands beside it at that instant. */
  foreignAt(atMs: number): boolean;
}

export interface Case {
  readonly keys?: readonly string[];
  readonly steps?: readonly TimedStep[];
  readonly models?: ModelOptions;
  /** Milliseconds in which faults strike. */
  readonly safetyMs?: number;
}

/** Faults until `safetyMs`, then a day of health; every checker is on. */
export function play(given: Case): Played {
  const { steps = LIFE, safetyMs = D } = given;
  const seen: Seen[] = [];
  const ordered = new Map<ActivityCommandType, string[]>();
  const stage = stageOf(given, ({ address, event, at, commands }) => {
    seen.push({ atMs: at - START_AT, entity: addressKey(address), event });
    for (const command of commands) {
      if (!('id' in command)) continue;
      const type = command.type as ActivityCommandType;
      ordered.set(type, [...(ordered.get(type) ?? []), command.id]);
    }
  });
  enter(stage, steps);
  stage.advanceTo(START_AT + safetyMs);
  stage.heal();
  stage.advanceTo(START_AT + safetyMs + D);
  stage.end();
  return {
    stage,
    seen,
    ordered,
    struck: stage.injector.injected.map(({ fault }) => fault),
    firstOf: (holds, everyMs) => firstOf(given, holds, everyMs),
    liveAt: (atMs) => at(given, atMs).world.live.has(BOX),
    stateAt: (atMs, pick) =>
      pick(at(given, atMs).simulation.stateOf({ machine: 'conversation', id: TALK }) as ConversationState),
    foreignAt: (atMs) => [...at(given, atMs).world.foreign()].includes(BOX),
  };
}

function stageOf(
  { keys = [], models = MODELS_STEADY }: Case,
  onStep?: FaultyStageOptions['onStep'],
): FaultyStage {
  const faults = { kind: 'schedule', keys: new Set(keys) } as const;
  const options = { startAt: START_AT, models, policy: POLICY, seed: 7, faults };
  return new FaultyStage(onStep === undefined ? options : { ...options, onStep });
}

function enter(stage: FaultyStage, steps: readonly TimedStep[]): void {
  for (const [number, [atMs, action]] of steps.entries())
    stage.simulation.script(START_AT + atMs, () => act(stage, action, number));
}

/** The same run once more, up to an instant: a run repeats itself byte for byte. */
function at(given: Case, atMs: number): FaultyStage {
  const stage = stageOf(given);
  enter(stage, given.steps ?? LIFE);
  stage.advanceTo(START_AT + atMs);
  return stage;
}

function firstOf(given: Case, holds: (stage: FaultyStage) => boolean, everyMs: number): number | null {
  const stage = at(given, 10 * S);
  for (let atMs = 10 * S; atMs <= (given.safetyMs ?? D); atMs += everyMs) {
    stage.advanceTo(START_AT + atMs);
    if (holds(stage)) return atMs;
  }
  return null;
}

/** Milliseconds from the beginning at which events of a type came. */
export function timesOf({ seen }: Played, type: MachineEvent['type']): readonly number[] {
  return seen.filter(({ event }) => event.type === type).map(({ atMs }) => atMs);
}

/** The n-th command of a type, counted from 1, as it is ordered while nothing goes wrong. */
export function nth(type: ActivityCommandType, count = 1): string {
  const id = UNDISTURBED.ordered.get(type)?.[count - 1];
  if (id === undefined) throw new Error(`Cannot name ${type} ${count}: it is not ordered`);
  return id;
}

export const UNDISTURBED = play({});
