/**
 * I19: what is newer is never overwritten by what is older (D14).
 * Owns one comparison per kind of word: snapshots of sandboxes, notices and reports of agents, notices of conversations.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { RunItem, RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import { isNewer } from '../../core/machine/snapshot.ts';
import { changedItems } from './changed-items.ts';
import type { Moment } from './checker.ts';

export function newestWins(moment: Moment): string | null {
  const { step } = moment;
  const { before, after, address } = step;
  if (before === null) return null;
  switch (address.machine) {
    case 'sandbox':
      return ofAgents(before as SandboxState, after as SandboxState);
    case 'conversation':
      return (
        ofSandbox(before as ConversationState, after as ConversationState) ??
        ofReports(step, before as ConversationState, after as ConversationState)
      );
    case 'run':
    case 'shard':
      return ofConversations(moment, before as RunState, after as RunState);
  }
}

function ofAgents(before: SandboxState, after: SandboxState): string | null {
  if (after.attached === before.attached) return null;
  for (const [id, { sequence }] of Object.entries(after.attached)) {
    const known = before.attached[id]?.sequence ?? sequence;
    if (sequence < known) return `notice ${sequence} of conversation ${id} overwrites ${known}`;
  }
  return null;
}

function ofSandbox({ sandbox: known }: ConversationState, { sandbox }: ConversationState): string | null {
  if (known === null || sandbox === null || known.sandboxId !== sandbox.sandboxId) return null;
  if (!isNewer(known, sandbox)) return null;
  return `snapshot ${sandbox.generation}/${sandbox.sequence} overwrites ${known.generation}/${known.sequence}`;
}

function ofReports(
  { event }: Moment['step'],
  before: ConversationState,
  after: ConversationState,
): string | null {
  const [known, now] = [before.executionStatusAt, after.executionStatusAt];
  if (known !== null && now !== null && now < known)
    return `a report overwrites one that is newer by ${known - now} ms`;
  if (!('report' in event) || known === now) return null;
  const { generation } = event.report;
  return generation === after.sandbox?.generation
    ? null
    : `a report of generation ${generation} is taken, and ${after.sandbox?.generation ?? 'none'} is the present one`;
}

function ofConversations(moment: Moment, before: RunState, after: RunState): string | null {
  for (const index of changedItems(moment)) {
    const item = after.items[index] as RunItem;
    const problem = ofItem(before.items[index], item);
    if (problem !== null) return `item "${item.key}": ${problem}`;
  }
  return null;
}

function ofItem(before: RunItem | undefined, { conversationId, past, noticed }: RunItem): string | null {
  if (conversationId !== null && past.includes(conversationId))
    return `conversation ${conversationId} of an earlier attempt is taken for the present one`;
  if (before?.conversationId !== conversationId || noticed >= before.noticed) return null;
  return `notice ${noticed} overwrites ${before.noticed}`;
}
