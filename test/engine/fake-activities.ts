/**
 * Activities that answer at once without any port.
 * Owns the answers of a world in which all goes well, and a record of the commands; a test replaces what it is about.
 */
import type { Activities, Activity, ActivityContext } from '../../activities/activity.ts';
import { BRIEF } from '../../core/machine/retry.ts';
import type {
  ActivityCommand,
  ActivityCommandType,
  CommandOf,
  MachineEvent,
} from '../../core/machine/command.ts';
import type { AgentReport } from '../../core/conversation/message.ts';
import { sandboxId, userId, type ConversationId, type SandboxId } from '../../core/ids.ts';
import type { ParleyError } from '../../core/parley-error.ts';
import { ACTIVITY_COMMAND_TYPES } from '../../core/machine/resource.ts';
import type { SandboxSpec } from '../../core/sandbox/state.ts';
import type { Clock } from '../../ports/clock.ts';

type Run<Type extends ActivityCommandType> = (
  command: CommandOf<Type>,
  context: ActivityContext,
) => Promise<MachineEvent | null> | MachineEvent | null;

/** What a test replaces: the run alone, or parts of the activity. */
export type Overrides = {
  readonly [Type in ActivityCommandType]?:
    Run<Type> | (Partial<Omit<Activity<Type>, 'run'>> & { readonly run?: Run<Type> });
};

export interface Ran {
  readonly id: string;
  readonly type: ActivityCommandType;
  readonly attempt: number;
  readonly command: ActivityCommand;
}

export interface FakeActivities {
  readonly activities: Activities;
  /** Every attempt that began, in order. */
  readonly ran: Ran[];
  /** Ids of the commands of one type, in order of their attempts. */
  idsOf(type: ActivityCommandType): readonly string[];
}

export function fakeActivities(clock: Clock, overrides: Overrides = {}): FakeActivities {
  const ran: Ran[] = [];
  const entries = ACTIVITY_COMMAND_TYPES.map((type) => [type, fake(type, { clock, overrides, ran })]);
  return {
    activities: Object.fromEntries(entries) as unknown as Activities,
    ran,
    idsOf: (type) => ran.filter((one) => one.type === type).map(({ id }) => id),
  };
}

function fake(
  type: ActivityCommandType,
  world: { readonly clock: Clock; readonly overrides: Overrides; readonly ran: Ran[] },
): unknown {
  const given = world.overrides[type];
  const parts = typeof given === 'function' ? { run: given } : (given ?? {});
  const run = (parts.run ?? null) as Run<ActivityCommandType> | null;
  return {
    retry: BRIEF,
    failed: (command: ActivityCommand, error: ParleyError) => failure(command, error),
    ...parts,
    run: async (command: ActivityCommand, context: ActivityContext) => {
      world.ran.push({ id: command.id, type, attempt: context.attempt, command });
      return run === null ? success(command, context, world.clock) : run(command as never, context);
    },
  };
}

/** The sandbox that placement would make for a conversation. */
export function sandboxOf(id: ConversationId): SandboxId {
  return sandboxId(id.replace(/^./, '5'));
}

export function specOf(id: ConversationId): SandboxSpec {
  const limits = { idleTimeMs: 1_200_000, deletionTimeMs: 864_000_000 };
  return { sandboxId: sandboxOf(id), userId: userId('u'), createdBy: 'placement', limits };
}

export function reportOf(status: AgentReport['status'], at: number, generation: number): AgentReport {
  return { status, pausedReason: null, at, generation, limitReached: null, retryAt: null, detail: null };
}

/** Waits until its machine cancels it, or its driver stops. */
export function untilCancelled({ signal }: ActivityContext): Promise<null> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}

/** The answer when all goes well; the agent has finished at the first poll. */
function success(
  command: ActivityCommand,
  context: ActivityContext,
  clock: Clock,
): Promise<MachineEvent | null> | MachineEvent | null {
  const commandId = command.id;
  switch (command.type) {
    case 'placeConversation':
      return {
        type: 'placed',
        commandId,
        sandboxId: sandboxOf(command.conversationId),
        spec: specOf(command.conversationId),
      };
    case 'openAgent':
      return { type: 'agentOpened', commandId, report: reportOf('IDLE', clock.now(), command.generation) };
    case 'deliverItem': {
      const report = reportOf('RUNNING', clock.now(), command.generation);
      return { type: 'itemDelivered', commandId, itemId: command.item.itemId, report };
    }
    case 'watchAgent':
      return {
        type: 'agentReported',
        commandId,
        report: reportOf('FINISHED', clock.now(), command.generation),
      };
    case 'removeConversation':
      return { type: 'conversationRemoved', commandId, sandboxToRemove: true };
    case 'watchIdle':
      return untilCancelled(context);
    case 'offerRoom':
    case 'record':
    case 'startConversation':
    case 'verifyItem':
    case 'collectItem':
    case 'cleanUpSandbox':
    case 'warmPool':
    case 'reconcileRun':
    case 'reportRun':
    case 'notifyOfRun':
      return null;
    default:
      return { type: PLAIN[command.type], commandId } as MachineEvent;
  }
}

/** Answers that say no more than that it is done. */
const PLAIN = {
  createSandbox: 'sandboxReady',
  resumeSandbox: 'sandboxReady',
  stopSandbox: 'sandboxStopped',
  archiveWorkspace: 'workspaceArchived',
  destroySandbox: 'sandboxDestroyed',
  reserveSlot: 'slotGranted',
  prepareRepository: 'repositoryPrepared',
  runSetupScript: 'setupScriptRan',
  setUpGitHooks: 'gitHooksSetUp',
  setUpSkills: 'skillsSetUp',
  interruptAgent: 'agentInterrupted',
} as const;

/** The answer when it failed for good, for the commands that tests let fail. */
function failure(command: ActivityCommand, error: ParleyError): MachineEvent | null {
  const { id: commandId, type } = command;
  const { message: reason, code } = error;
  if (type === 'createSandbox' || type === 'resumeSandbox')
    return { type: 'sandboxFailed', commandId, reason };
  if (type === 'prepareRepository') return { type: 'stepFailed', commandId, code, reason };
  if (type === 'placeConversation') return { type: 'placementRefused', commandId, code, reason };
  if (type === 'deliverItem')
    return { type: 'deliveryFailed', commandId, itemId: command.item.itemId, reason };
  return null;
}
