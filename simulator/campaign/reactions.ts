/**
 * Users who act at the worst moment: as soon as an entity enters a phase, one sends it a request.
 * Owns when they act and what they send; every reaction is counted, so that a case stays short.
 */
import type { MachineEvent } from '../../core/machine/command.ts';
import type { ConversationState } from '../../core/conversation/state.ts';
import type { ConversationId, EntityAddress, MachineName } from '../../core/ids.ts';
import { amendedPlanId } from '../../core/run/amend/amended-plan-id.ts';
import { planChanges } from '../../core/run/amend/plan-changes.ts';
import type { RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import { FAILURE_CLASSES } from '../../core/status.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { Injected } from '../faults/injector.ts';
import { SIMULATED_USER } from '../models/run-model.ts';
import type { RandomStream } from '../random.ts';
import type { Stage } from '../script.ts';
import type { Simulation } from '../simulation.ts';
import type { SimulationStep } from '../simulation-options.ts';
import { wholeMagnitude } from './choose.ts';

export type Asked =
  | 'deleteRequested'
  | 'pauseRequested'
  | 'resumeRequested'
  | 'messageReceived'
  | 'interruptRequested'
  | 'accessRequested'
  | 'confirmationAnswered'
  | 'metadataChanged'
  | 'cancelRequested'
  | 'drainRequested'
  | 'requeueRequested'
  | 'planAmended'
  | 'settingsChanged';

export interface Reaction {
  readonly machine: MachineName;
  readonly phase: string;
  readonly asked: Asked;
  /** `sandbox`: the one that the conversation is in; `conversation`: one of the sandbox. */
  readonly of: 'self' | 'sandbox' | 'conversation';
  /** How often it happens at all. */
  readonly share: number;
  /** It happens within this time of the entry, sooner rather than later. */
  readonly withinMs: number;
}

/** More add events and no new situation. */
const FIRED_MAX = 40;
/** Messages written while an answer is late: so many in a case, and so soon that the answer is mostly still to come. */
const WRITTEN_MAX = 20;
const WRITTEN_WITHIN_MS = MINUTE_MS;
/** What was written is stopped as often as not, before its work is over. */
const STOPPED_SHARE = 0.6;
const STOPPED_WITHIN_MS = 5 * MINUTE_MS;
const SANDBOX_PREFIX = 'sandbox/';

export class Reactions {
  private fired = 0;
  private written = 0;
  private readonly reactions: readonly Reaction[];
  private readonly random: RandomStream;
  private readonly kept: ReadonlySet<number> | null;

  /** `kept`: indices of those that happen; null for all. */
  constructor(reactions: readonly Reaction[], random: RandomStream, kept: readonly number[] | null) {
    this.reactions = reactions;
    this.random = random;
    this.kept = kept === null ? null : new Set(kept);
  }

  /** Called after a step that led into another phase. */
  entered(step: SimulationStep, phase: string, stage: Stage & { readonly simulation: Simulation }): void {
    for (const [index, reaction] of this.reactions.entries()) {
      if (this.kept?.has(index) === false) continue;
      if (reaction.machine !== step.address.machine || reaction.phase !== phase) continue;
      const requestId = `reaction-${index}-${step.sequence}`;
      const stream = this.random.split(requestId);
      if (this.fired >= FIRED_MAX || !stream.happens(reaction.share)) continue;
      const to = targetOf(reaction, step);
      if (to === null) continue;
      this.fired += 1;
      const delayMs = stream.happens(0.3) ? 0 : wholeMagnitude(stream, 1, reaction.withinMs);
      stage.simulation.script(step.at + delayMs, () => {
        if (reaction.asked === 'messageReceived')
          stage.world.accepted.set(requestId, to.id as ConversationId);
        const event =
          reaction.asked === 'planAmended'
            ? amendment(stage, to, requestId)
            : eventOf(reaction.asked, to, requestId, keysIn(stage.simulation, to));
        if (event !== null) stage.deliver(to, event);
      });
    }
  }

  /** Called when a fault struck: while the answer of a poll is late, a user writes to a conversation in the sandbox. */
  struck({ fault, entity, at }: Injected, stage: Stage & { readonly simulation: Simulation }): void {
    if (fault !== 'answer_late' || entity?.startsWith(SANDBOX_PREFIX) !== true) return;
    const id = entity.slice(SANDBOX_PREFIX.length);
    const { phase, attached } = stage.simulation.stateOf({ machine: 'sandbox', id }) as SandboxState;
    const to = Object.keys(attached)[0];
    if (phase !== 'running' || to === undefined || this.written >= WRITTEN_MAX) return;
    this.written += 1;
    const name = `struck-${this.written}`;
    const stream = this.random.split(name);
    const writtenAt = at + wholeMagnitude(stream, 1, WRITTEN_WITHIN_MS);
    const address = { machine: 'conversation', id: to } as const;
    const ask = (asked: Exclude<Asked, 'planAmended'>, requestId: string, then: number): void =>
      stage.simulation.script(then, () => {
        if (asked === 'messageReceived') stage.world.accepted.set(requestId, to as ConversationId);
        stage.deliver(address, eventOf(asked, address, requestId));
      });
    ask('messageReceived', name, writtenAt);
    // Mostly at rest again before the answer comes.
    const stoppedAt = writtenAt + wholeMagnitude(stream, SECOND_MS, STOPPED_WITHIN_MS);
    if (stream.happens(STOPPED_SHARE)) ask('interruptRequested', `${name}-stop`, stoppedAt);
  }
}

function targetOf({ of }: Reaction, { address, after }: SimulationStep): EntityAddress | null {
  if (of === 'self') return address;
  if (of === 'conversation') {
    const [id] = Object.keys((after as SandboxState).attached);
    return id === undefined ? null : { machine: 'conversation', id };
  }
  const { sandboxId } = after as ConversationState;
  return sandboxId === null ? null : { machine: 'sandbox', id: sandboxId };
}

/** Keys of the items of a run; none of anything else. */
function keysIn(simulation: Simulation, to: EntityAddress): readonly string[] {
  if (to.machine !== 'run') return [];
  const run = simulation.stateOf(to) as RunState | null;
  return run === null ? [] : run.items.map(({ key }) => key);
}

function eventOf(
  type: Exclude<Asked, 'planAmended'>,
  to: EntityAddress,
  requestId: string,
  keys: readonly string[] = [],
): MachineEvent {
  switch (type) {
    case 'messageReceived':
      return { type, messageId: requestId, text: 'more', run: true };
    case 'confirmationAnswered':
      return { type, requestId, accept: true, reason: '' };
    case 'metadataChanged':
      return { type, requestId, title: 'another', tags: null };
    case 'settingsChanged':
      return { type, requestId, settings: { concurrency: 3 } };
    case 'requeueRequested':
      return { type, requestId, keys };
    case 'pauseRequested':
      return { type, requestId, reason: 'user' };
    case 'resumeRequested':
      return to.machine === 'run'
        ? { type, requestId, classes: FAILURE_CLASSES }
        : { type, requestId, conversationId: null };
    case 'deleteRequested':
    case 'interruptRequested':
    case 'accessRequested':
    case 'cancelRequested':
    case 'drainRequested':
      return { type, requestId };
  }
}

type Playing = Pick<Stage, 'world'> & { readonly simulation: Simulation };

/** Null where there is no such run, or its plan is not known yet. */
function amendment(stage: Playing, to: EntityAddress, requestId: string): MachineEvent | null {
  const run = stage.simulation.stateOf(to) as RunState | null;
  const from = run === null ? null : stage.world.planOf(run.runId, run.planHash);
  const first = from?.items[0];
  if (run === null || from === null || first === undefined) return null;
  const { items } = from;
  const changed = { ...first, prompt: `${first.prompt}, ${requestId}`, specHash: requestId };
  const added = { ...changed, key: `${requestId}-more`, index: items.length };
  const plan = {
    ...from,
    items: [changed, ...items.slice(1), added],
    hash: `${from.hash}, ${requestId}`,
  };
  stage.world.addPlan(amendedPlanId(run.runId, plan.hash), plan);
  const changes = planChanges(from, plan, { runId: run.runId, userId: SIMULATED_USER });
  return { type: 'planAmended', requestId, ...changes, retired: items.length > 1 ? [1] : [] };
}
