/** Plays of one small life on the stage, with chosen faults: what each fault test starts from. Owns the life and the way to name a fault's place. */
import type { ActivityCommandType, MachineEvent } from '../../core/machine/command.ts';
import { addressKey } from '../../core/ids.ts';
import { FaultyStage } from '../../simulator/faults/faulty-stage.ts';
import type { FaultSource, Injected } from '../../simulator/faults/injector.ts';
import { conversationIdNamed } from '../../simulator/models/derived-id.ts';
import { MODELS_STEADY, type ModelOptions, type Policy } from '../../simulator/models/model-options.ts';
import { act, START_AT } from '../../simulator/script.ts';
import type { SimulationStep } from '../../simulator/simulation-options.ts';
import { H, M, POLICY, start, type TimedStep } from '../conformance/script-parts.ts';

export const TALK_A = { machine: 'conversation', id: conversationIdNamed('a') } as const;

/** Works, is spoken to, is paused by its user, is brought back by a message, idles, and is deleted in the end. */
export const LIFE: readonly TimedStep[] = [
  [0, start('a')],
  [30 * M, { do: 'message', name: 'a' }],
  [50 * M, { do: 'pause', of: 'a' }],
  [60 * M, { do: 'message', name: 'a' }],
];

export interface Parts {
  readonly life?: readonly TimedStep[];
  readonly models?: ModelOptions;
  readonly policy?: Partial<Policy>;
  /** Milliseconds from the beginning at which everything heals. */
  readonly healMs?: number;
}

export interface Play {
  readonly stage: FaultyStage;
  readonly steps: readonly SimulationStep[];
  readonly injected: readonly Injected[];
}

const SETTLED_MS = 2 * H;

/** Faults strike until `healMs`, then everything heals and has two hours to settle. */
export function play(source: FaultSource | readonly string[], parts: Parts = {}): Play {
  const { life = LIFE, models = MODELS_STEADY, policy, healMs = 8 * H } = parts;
  const steps: SimulationStep[] = [];
  const stage = new FaultyStage({
    startAt: START_AT,
    models,
    policy: { ...POLICY, ...policy },
    seed: 7,
    faults: 'kind' in source ? source : { kind: 'schedule', keys: new Set(source) },
    onStep: (step) => steps.push(step),
  });
  for (const [number, [atMs, action]] of life.entries())
    stage.simulation.script(START_AT + atMs, () => act(stage, action, number));
  stage.advanceTo(START_AT + healMs);
  stage.heal();
  stage.advanceTo(START_AT + healMs + SETTLED_MS);
  stage.end();
  return { stage, steps, injected: stage.injector.injected };
}

/** The id of the n-th command of a type in a play, from 0. */
export function commandId({ steps }: Play, type: ActivityCommandType, which = 0): string {
  const ids = steps.flatMap(({ commands }) =>
    commands.flatMap((one) => (one.type === type && 'id' in one ? [one.id] : [])),
  );
  const id = ids[which];
  if (id === undefined) throw new Error(`there is no ${type} number ${which}`);
  return id;
}

/** Milliseconds from the beginning at which an event of this type changed something, in order. */
export function instants({ steps }: Play, type: MachineEvent['type']): readonly number[] {
  return steps.filter(({ event }) => event.type === type).map(({ at }) => at - START_AT);
}

/** Entities, events and orders, without instants. */
export function outline({ steps }: Play): readonly string[] {
  return steps.map(
    ({ address, event, commands }) =>
      `${addressKey(address)} ${event.type} ${commands.map(({ type }) => type).join(' ')}`,
  );
}
