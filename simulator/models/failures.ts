/**
 * Which commands fail, and how each kind says so.
 * Owns the count of forced failures and the wording of answers; must not decide what a failure means.
 */
import type { ActivityCommand, ActivityCommandType, MachineEvent } from '../../core/machine/command.ts';
import type { RandomStream } from '../random.ts';
import type { ModelOptions } from './model-options.ts';

const REASON = 'the model says so';

export class Failures {
  private readonly rates: ModelOptions['failures'];
  private readonly random: RandomStream;
  private readonly counts = new Map<ActivityCommandType, number>();

  constructor(rates: ModelOptions['failures'], random: RandomStream) {
    this.rates = rates;
    this.random = random;
  }

  fails(command: ActivityCommand): boolean {
    const rate = this.rates[command.type];
    if (rate === undefined) return false;
    const count = (this.counts.get(command.type) ?? 0) + 1;
    this.counts.set(command.type, count);
    if (count <= (rate.first ?? 0)) return true;
    return rate.share !== undefined && this.random.split(command.id).happens(rate.share);
  }
}

/** The answer of a command that failed for good; null for one whose machine waits for no answer. */
export function failureOf(command: ActivityCommand, reason: string = REASON): MachineEvent | null {
  const commandId = command.id;
  switch (command.type) {
    case 'createSandbox':
    case 'resumeSandbox':
      return { type: 'sandboxFailed', commandId, reason };
    case 'stopSandbox':
      return { type: 'stopFailed', commandId, reason };
    case 'archiveWorkspace':
      return { type: 'archiveFailed', commandId, reason };
    case 'destroySandbox':
      return { type: 'destroyFailed', commandId, reason };
    case 'reserveSlot':
      return { type: 'slotRefused', commandId, reason };
    case 'watchIdle':
      return { type: 'runtimeUnknown', commandId };
    case 'placeConversation':
      return { type: 'placementRefused', commandId, code: 'placement_failed', reason };
    case 'prepareRepository':
    case 'runSetupScript':
    case 'setUpGitHooks':
    case 'setUpSkills':
    case 'openAgent':
      return { type: 'stepFailed', commandId, code: 'agent_unreachable', reason };
    case 'deliverItem':
      return { type: 'deliveryFailed', commandId, itemId: command.item.itemId, reason };
    case 'interruptAgent':
      return { type: 'agentInterrupted', commandId };
    case 'removeConversation':
      return { type: 'conversationRemoved', commandId, sandboxToRemove: false };
    case 'startConversation':
      return { type: 'startRefused', commandId, index: command.index, reason };
    case 'verifyItem':
      return { type: 'itemVerified', commandId, index: command.index, passed: false, detail: reason };
    case 'collectItem':
      return { type: 'collectFailed', commandId, index: command.index, reason };
    case 'cleanUpSandbox':
      return { type: 'sandboxCleanedUp', commandId, sandboxId: command.sandboxId, isOurs: false };
    case 'warmPool':
      return { type: 'poolWarmed', commandId, sandboxIds: [], reason };
    case 'reconcileRun':
      return { type: 'reconcileFailed', commandId, reason };
    case 'notifyOfRun':
      return { type: 'notifyFailed', commandId, reason };
    case 'offerRoom':
    case 'watchAgent':
    case 'record':
    case 'reportRun':
      return null;
  }
}
