/** States and facts made up for checkers, so that each can be shown a world in which its invariant is broken. Owns the first values. */
import type { Command, MachineEvent } from '../../core/machine/command.ts';
import { initConversation, type ConversationState } from '../../core/conversation/state.ts';
import type { EntityAddress, MachineName } from '../../core/ids.ts';
import type { ItemPhase } from '../../core/machine/projection.ts';
import { runSpec } from '../../core/run/run-spec.ts';
import { initRun } from '../../core/run/init.ts';
import type { RunState } from '../../core/run/state.ts';
import { runId } from '../../core/ids.ts';
import { initSandbox, snapshotOf, type SandboxState } from '../../core/sandbox/state.ts';
import type { SandboxSnapshot } from '../../core/machine/snapshot.ts';
import { PUNCTUAL, type Moment, type Rest, type Timeliness } from '../../simulator/checkers/checker.ts';
import { specOutsideRun } from '../../simulator/models/spec-outside-run.ts';
import { conversationIdNamed, sandboxIdNamed } from '../../simulator/models/derived-id.ts';
import { SIMULATED_USER } from '../../simulator/models/run-model.ts';
import type { WorldFacts } from '../../simulator/world-facts.ts';
import { plan, POLICY } from '../conformance/script-parts.ts';

export const NOW = 1_700_000_000_000;
export const BOX = sandboxIdNamed('box');
export const TALK = conversationIdNamed('talk');

export function sandbox(change: Partial<SandboxState> = {}): SandboxState {
  const spec = {
    sandboxId: BOX,
    userId: SIMULATED_USER,
    createdBy: 'placement' as const,
    limits: POLICY.limits,
  };
  return { ...initSandbox(spec, NOW), ...change };
}

export function conversation(change: Partial<ConversationState> = {}): ConversationState {
  const spec = specOutsideRun({
    conversationId: TALK,
    strategy: 'NO_GROUPING',
    initialMessage: { messageId: 'm', text: 't', run: true },
    iterationsMax: 1,
  });
  return { ...initConversation(spec, null, NOW), ...change };
}

export function run(change: Partial<RunState> = {}): RunState {
  return { ...initRun(runSpec(plan(2), { runId: runId('r'), userId: SIMULATED_USER }), NOW), ...change };
}

export function usable(generation: number): SandboxSnapshot {
  return { ...snapshotOf(sandbox({ phase: 'running', status: 'RUNNING', generation })) };
}

export function facts(change: Partial<WorldFacts> = {}): WorldFacts {
  return {
    policy: POLICY,
    live: new Map(),
    wasUp: () => false,
    foreign: () => [],
    pools: { joined: [], ownerOf: () => null, placedIn: () => 0 },
    isGoing: () => false,
    slots: new Map(),
    turns: () => [],
    archived: new Set(),
    delivered: new Map(),
    refused: new Map(),
    accepted: new Map(),
    lastActivityAt: () => NOW,
    transcriptOf: () => 0,
    toldNanoUsd: 0,
    spentBy: () => 0,
    ...change,
  };
}

export const running = sandbox({
  phase: 'running',
  status: 'RUNNING',
  sessionStartedAt: NOW,
  everReady: true,
});
export const released = sandbox({ phase: 'released', releasedAt: NOW });
export const talking = conversation({
  phase: 'active',
  sandboxId: BOX,
  sandbox: usable(2),
  queue: [{ kind: 'message', itemId: 'm', text: 't', run: true }],
});
export const box2 = sandboxIdNamed('another');
export const two = new Map([BOX, box2].map((id) => [id, SIMULATED_USER]));
export const up = (...generations: readonly number[]) => ({ live: new Map([[BOX, new Set(generations)]]) });

export interface Case {
  readonly name: string;
  readonly machine: EntityAddress['machine'];
  readonly holds: readonly Doctored[];
  /** Steps in order; the last one breaks it. */
  readonly broken: readonly Doctored[];
}

export interface Doctored {
  /** Absent: the machine of the case, and its one entity. */
  readonly machine?: EntityAddress['machine'];
  readonly id?: string;
  readonly before?: unknown;
  readonly after: unknown;
  readonly event?: Partial<MachineEvent> & { readonly type: MachineEvent['type'] };
  readonly orders?: readonly (Partial<Command> & { readonly type: Command['type'] })[];
  readonly at?: number;
  readonly facts?: Partial<WorldFacts>;
  readonly timeliness?: Partial<Timeliness>;
}

const IDS = { sandbox: BOX, conversation: TALK, run: 'r', shard: 'r.0' } as const;

export function moment(machine: EntityAddress['machine'], doctored: Doctored): Moment {
  const { before = null, after, event = { type: 'deadline' }, orders = [], at = NOW } = doctored;
  const spoken = doctored.machine ?? machine;
  return {
    step: {
      at,
      sequence: 1,
      address: { machine: spoken, id: doctored.id ?? IDS[spoken] },
      event: event as MachineEvent,
      before,
      after,
      commands: orders as readonly Command[],
    },
    facts: facts(doctored.facts),
    timeliness: { ...PUNCTUAL, ...doctored.timeliness },
  };
}

export function rest(
  states: {
    readonly sandbox?: SandboxState;
    readonly conversation?: ConversationState;
    readonly run?: RunState;
    readonly shard?: RunState;
  },
  change: Partial<Rest> = {},
): Rest {
  const entities = Object.entries(states).map(([machine, state]) => ({
    address: {
      machine: machine as MachineName,
      id: IDS[machine as MachineName],
    },
    state,
  }));
  return { now: NOW, entities, facts: facts(), outstanding: [], timeliness: PUNCTUAL, ...change };
}

/** A run of one item, with its shard: they agree that it is in flight, or the shard says that it waits. */
export const SHARDED = { holds: ofShard('collecting'), broken: ofShard('waiting') } as const;

function ofShard(phase: ItemPhase): Rest {
  const whole = run();
  const itemIn = (is: ItemPhase) => whole.items.slice(0, 1).map((item) => ({ ...item, phase: is }));
  return rest({
    run: {
      ...whole,
      items: itemIn('starting'),
      rules: { ...whole.rules, shardItems: 1 },
      shards: [true],
    },
    shard: { ...whole, items: itemIn(phase), slice: { number: 0, from: 0 } },
  });
}
