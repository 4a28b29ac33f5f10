/**
 * What a command does to the world, and what its caller gets back: one effect, one answer, no clock.
 * Owns effects and answers; when they happen, and how often they are tried, is decided by its callers.
 */
import type { ActivityCommand, CommandOf, MachineEvent } from '../../core/machine/command.ts';
import { addressOfCommand, type ConversationId, type SandboxId } from '../../core/ids.ts';
import { warmedName } from '../../core/placement/warmed-name.ts';
import { foundSandbox, type LostSandbox } from '../../core/run/items/lost-sandbox.ts';
import type { CallError } from '../faults/runtime-fates.ts';
import type { ModelPort } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import type { AgentsModel } from './agents-model.ts';
import type { IdleWatches } from './idle-watches.ts';
import { sandboxIdNamed } from './derived-id.ts';
import type { ModelOptions, Policy } from './model-options.ts';
import type { PlacementModel } from './placement-model.ts';
import type { RunModel } from './run-model.ts';
import type { Incarnation, Incarnations, RuntimeModel } from './runtime-model.ts';
import { offerRoom, type Slotted } from './slot-seeker.ts';

/** Commands that one effect answers; the others wait for something, or write one line. */
export type CarriedOut = Exclude<ActivityCommand, CommandOf<'watchIdle' | 'watchAgent' | 'record'> | Slotted>;
/** An answer, or what went wrong. */
export type Outcome = MachineEvent | null | CallError;

export function isAnswer(outcome: Outcome): outcome is MachineEvent | null {
  return outcome === null || 'type' in outcome;
}

interface Parts {
  readonly port: ModelPort;
  readonly models: ModelOptions;
  readonly policy: Policy;
  readonly random: RandomStream;
  readonly runtime: RuntimeModel;
  readonly watches: IdleWatches;
  readonly placement: PlacementModel;
  readonly agents: AgentsModel;
  readonly runs: RunModel;
  /** Messages that were accepted from a user, with their conversation. */
  readonly accepted: Map<string, ConversationId>;
}

const definite = (reason: string): CallError => ({ reason, isDefinite: true, afterMs: 0 });
const passing = (reason: string): CallError => ({ reason, isDefinite: false, afterMs: 0 });

export class Outcomes {
  incarnations: Incarnations | null = null;
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  of(command: CarriedOut): Outcome {
    const commandId = command.id;
    switch (command.type) {
      case 'createSandbox':
      case 'resumeSandbox':
        return this.start(command);
      case 'stopSandbox':
        return this.stop(command)
          ? { type: 'sandboxStopped', commandId }
          : definite('a newer incarnation was started');
      case 'archiveWorkspace':
        return this.parts.runtime.archive(command.sandboxId)
          ? { type: 'workspaceArchived', commandId }
          : definite('there is nothing to read');
      case 'destroySandbox':
        this.destroy(command.sandboxId);
        return { type: 'sandboxDestroyed', commandId };
      case 'offerRoom':
        offerRoom(this.parts.port, this.parts.placement);
        return null;
      case 'removeConversation':
        return this.remove(command);
      case 'startConversation':
      case 'verifyItem':
      case 'collectItem':
      case 'cleanUpSandbox':
      case 'warmPool':
      case 'reconcileRun':
      case 'reportRun':
      case 'notifyOfRun':
        return this.forRun(command);
      default:
        return this.ofAgent(command);
    }
  }

  /** The call of the runtime alone, once more, even when no caller wants it any more. */
  repeat(command: CarriedOut): void {
    switch (command.type) {
      case 'createSandbox':
      case 'resumeSandbox':
        return void this.bringUp(command);
      case 'stopSandbox':
        return void this.stop(command);
      case 'archiveWorkspace':
        return void this.parts.runtime.archive(command.sandboxId);
      case 'destroySandbox':
        return this.destroy(command.sandboxId);
      default:
        return;
    }
  }

  private start(command: CommandOf<'createSandbox' | 'resumeSandbox'>): Outcome {
    const { id: commandId, sandboxId } = command;
    const row = this.parts.placement.rows.get(sandboxId);
    // A deletion that came in between is never undone (D14).
    if (row?.transition === 'deleting' || row?.status === 'MISSING')
      return { type: 'sandboxFailed', commandId, reason: 'it is being deleted' };
    switch (this.bringUp(command)) {
      case 'up':
      case 'again':
        return { type: 'sandboxReady', commandId };
      case 'stale':
        return definite('this incarnation has ended, or a newer one was started');
      case 'gone':
        return { type: 'runtimeGone', commandId };
    }
  }

  private bringUp({ sandboxId, generation }: Incarnation) {
    const { runtime, agents, placement } = this.parts;
    const replaces = runtime.live.has(sandboxId) && !runtime.isUp(sandboxId, generation);
    const outcome = runtime.up(sandboxId, generation);
    if (outcome !== 'up') return outcome;
    if (replaces) agents.cut(placement.membersOf(sandboxId));
    this.incarnations?.started({ sandboxId, generation });
    return outcome;
  }

  private stop({ sandboxId, generation }: Incarnation): boolean {
    const { runtime, agents, placement } = this.parts;
    if (!runtime.down(sandboxId, generation)) return false;
    agents.cut(placement.membersOf(sandboxId));
    this.incarnations?.stopped({ sandboxId, generation });
    return true;
  }

  private destroy(sandboxId: SandboxId): void {
    const { runtime, agents, placement } = this.parts;
    runtime.destroy(sandboxId);
    agents.cut(placement.membersOf(sandboxId));
  }

  /** Its agent stops and spends nothing more. What it did stays activity of the sandbox, which may be idle from now on. */
  private remove({ id: commandId, conversationId }: CommandOf<'removeConversation'>): MachineEvent {
    const { port, runtime, watches, placement, agents } = this.parts;
    const home = placement.homeOf(conversationId);
    const lastActivityAt = agents.find(conversationId)?.lastActivityAt(port.now()) ?? 0;
    agents.cut([conversationId]);
    const sandboxToRemove = placement.detach(conversationId);
    if (home === null || sandboxToRemove) offerRoom(port, placement);
    if (home !== null) {
      runtime.touch(home, lastActivityAt);
      watches.reconsider(home);
    }
    return { type: 'conversationRemoved', commandId, sandboxToRemove };
  }

  private ofAgent(command: AgentCommand): Outcome {
    const { runtime, agents } = this.parts;
    const commandId = command.id;
    const missing = this.missing(command);
    if (missing !== null) return missing;
    switch (command.type) {
      case 'prepareRepository':
        return { type: 'repositoryPrepared', commandId };
      case 'runSetupScript':
        return { type: 'setupScriptRan', commandId };
      case 'setUpGitHooks':
        return { type: 'gitHooksSetUp', commandId };
      case 'setUpSkills':
        return { type: 'skillsSetUp', commandId };
      case 'openAgent':
        return { type: 'agentOpened', commandId, report: agents.open(command) };
      case 'deliverItem':
        runtime.contact(command.sandboxId, { kind: 'delivery' });
        return {
          type: 'itemDelivered',
          commandId,
          itemId: command.item.itemId,
          report: agents.deliver(command),
        };
      case 'interruptAgent':
        agents.interrupt(command);
        return { type: 'agentInterrupted', commandId };
    }
  }

  /** Why the Agent Server of the incarnation cannot be called; null when it can. */
  private missing({ sandboxId, generation }: Incarnation): CallError | null {
    const { runtime } = this.parts;
    if (runtime.isUp(sandboxId, generation)) return null;
    if (runtime.lossOf(sandboxId) === 'gone') return definite('there is no such sandbox');
    for (const one of runtime.live.get(sandboxId) ?? [])
      if (one !== generation) return definite('another incarnation is up');
    return passing('it is not up');
  }

  private forRun(command: RunCommandOut): Outcome {
    const { port, models, random, agents, runs } = this.parts;
    const commandId = command.id;
    switch (command.type) {
      case 'startConversation':
        return this.startConversation(command);
      case 'verifyItem': {
        const lost = this.lossOf(command.sandboxId, true);
        if (lost !== null)
          return { type: 'verifyFailed', commandId, index: command.index, reason: 'no sandbox', lost };
        const name = `verify/${command.conversationId}`;
        const passed = !random.split(name).happens(models.checkFails);
        return {
          type: 'itemVerified',
          commandId,
          index: command.index,
          passed,
          detail: passed ? null : 'exit code 1',
        };
      }
      case 'collectItem':
        return runs.collected(
          command,
          agents.find(command.conversationId)?.spentBy(port.now()) ?? 0,
          command.sandboxId === null ? null : this.lossOf(command.sandboxId, command.workspaceReadable),
        );
      case 'cleanUpSandbox':
        return this.cleanUp(command);
      case 'warmPool':
        return this.warmPool(command);
      case 'reconcileRun':
        return runs.reconciled(command);
      case 'reportRun':
        return { type: 'runReported', commandId };
      case 'notifyOfRun':
        return { type: 'runNotified', commandId, isSent: true };
    }
  }

  private lossOf(sandboxId: SandboxId, readable: boolean): LostSandbox | null {
    return foundSandbox(this.parts.placement.rows.get(sandboxId) ?? null, readable).lost;
  }

  /** Claimed first, then checked: a conversation that is placed in between finds it going (D11). */
  private cleanUp(command: CommandOf<'cleanUpSandbox'>): MachineEvent {
    const { id: commandId, runId, sandboxId, how, whileRunning } = command;
    const { port, placement, runs } = this.parts;
    const toRemove = how === 'delete';
    const isOf = (id: ConversationId): boolean => runs.isOf(runId, id);
    const claimed = placement.claim(sandboxId, { runId, isOf, toRemove, onlyAtRest: whileRunning === true });
    if (claimed === 'busy')
      return { type: 'sandboxCleanedUp', commandId, sandboxId, isOurs: false, isBusy: true };
    const isOurs = claimed === 'ours';
    const to = { machine: 'sandbox', id: sandboxId } as const;
    if (isOurs && toRemove) port.deliver(to, { type: 'deleteRequested', requestId: commandId });
    else if (isOurs) port.deliver(to, { type: 'pauseRequested', requestId: commandId, reason: 'user' });
    return { type: 'sandboxCleanedUp', commandId, sandboxId, isOurs };
  }

  /** Made again, each already exists. */
  private warmPool(command: CommandOf<'warmPool'>): MachineEvent {
    const { id: commandId, userId, size } = command;
    const { port, placement, policy } = this.parts;
    const made: SandboxId[] = [];
    for (let number = 0; number < size; number += 1) {
      const id = sandboxIdNamed(warmedName(command, number));
      if (!placement.warm(id, command, port.now()))
        return { type: 'poolWarmed', commandId, sandboxIds: made, reason: 'there is no room for more' };
      const spec = { sandboxId: id, userId, createdBy: 'placement', limits: policy.limits } as const;
      port.deliver({ machine: 'sandbox', id }, { type: 'created', spec });
      made.push(id);
    }
    return { type: 'poolWarmed', commandId, sandboxIds: made, reason: null };
  }

  private startConversation(command: CommandOf<'startConversation'>): Outcome {
    const { port, agents, runs, accepted } = this.parts;
    const spec = runs.specOf(command);
    if (spec === null) return definite('the plan has no such item');
    const { conversationId } = spec;
    agents.name(conversationId, command.key);
    if (spec.initialMessage !== null) accepted.set(spec.initialMessage.messageId, conversationId);
    const watcher = addressOfCommand(command.id);
    port.deliver({ machine: 'conversation', id: conversationId }, { type: 'started', spec, watcher });
    return { type: 'conversationStarted', commandId: command.id, index: command.index, conversationId };
  }
}

type AgentCommand = Exclude<
  Extract<ActivityCommand, { readonly generation: number; readonly conversationId: ConversationId }>,
  CommandOf<'watchAgent' | 'removeConversation'>
>;
type RunCommandOut = CommandOf<
  | ('startConversation' | 'verifyItem' | 'collectItem' | 'cleanUpSandbox')
  | ('warmPool' | 'reconcileRun' | 'reportRun' | 'notifyOfRun')
>;
