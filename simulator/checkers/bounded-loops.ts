/**
 * I20: every loop of orders has its bound (ARCHITECTURE.md, "Bounds").
 * Owns counts of its own, so that a counter that a machine forgets does not hide the loop.
 */
import type { MachineEvent } from '../../core/machine/command.ts';
import type { ConversationState } from '../../core/conversation/state.ts';
import {
  ARCHIVE_ATTEMPTS_MAX,
  DELIVERY_ATTEMPTS_MAX,
  PLACEMENT_ATTEMPTS_MAX,
  RESUME_ATTEMPTS_MAX,
  RESUME_REQUESTS_MAX,
} from '../../core/limits.ts';
import { retryOf } from '../../core/plan/item-rules.ts';
import type { RunItem, RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import { changedItems } from './of-runs.ts';
import type { Moment, SafetyCheck } from './checker.ts';

type Step = Moment['step'];

export function boundedLoops(): SafetyCheck {
  // By what is counted, then by entity: no two machines count the same thing.
  const counts = new Map<string, Map<string, number>>();
  const count = ({ address }: Step, what: string, max: number, more: number): string | null => {
    const known = counts.get(what);
    if (more === 0) {
      known?.delete(address.id);
      return null;
    }
    const now = (known?.get(address.id) ?? 0) + more;
    if (known === undefined) counts.set(what, new Map([[address.id, now]]));
    else known.set(address.id, now);
    return now > max ? `${what} for the ${now}th time, and ${max} is the bound` : null;
  };
  return (moment: Moment) => {
    const { step } = moment;
    switch (step.address.machine) {
      case 'sandbox':
        return ofSandbox(step, count);
      case 'conversation':
        return ofConversation(step, count);
      case 'run':
      case 'shard':
        return ofRun(moment);
    }
  };
}

/** Counts so many more of something; none begins anew. */
type Count = (step: Step, what: string, max: number, more: number) => string | null;

function orders({ commands }: Step, type: string): number {
  let count = 0;
  for (const command of commands) if (command.type === type) count += 1;
  return count;
}

function ofSandbox(step: Step, count: Count): string | null {
  const { phase } = step.after as SandboxState;
  const isArchiving = phase === 'archiving' || phase === 'errorArchiving';
  const resumes = phase === 'resuming' ? orders(step, 'resumeSandbox') : 0;
  const archives = isArchiving ? orders(step, 'archiveWorkspace') : 0;
  if (phase === 'resuming' && resumes === 0) return null;
  return (
    count(step, 'resumes', RESUME_ATTEMPTS_MAX, resumes) ??
    (archives === 0 && isArchiving ? null : count(step, 'archives', ARCHIVE_ATTEMPTS_MAX, archives))
  );
}

function ofConversation(step: Step, count: Count): string | null {
  const { event } = step;
  const { sandbox, queue, phase, waitsFor } = step.after as ConversationState;
  // The one that only gives a place back takes none, and comes once, after the last try.
  const placed = step.commands.filter(
    (command) => command.type === 'placeConversation' && command.onlyLeaves !== true,
  ).length;
  // A conversation that waits for a slot retries once per report of room: no sandbox has refused it.
  if (placed > 0 && waitsFor === undefined) return count(step, 'is placed', PLACEMENT_ATTEMPTS_MAX, placed);
  if (event.type === 'deliveryFailed')
    return count(step, `fails to deliver ${event.itemId}`, DELIVERY_ATTEMPTS_MAX, 1);
  const asked = step.commands.filter(isResumeRequest).length;
  if (asked > 0) return count(step, 'asks for a resume', RESUME_REQUESTS_MAX, asked);
  if (sandbox?.usable === true || (queue.length === 0 && phase === 'active'))
    return count(step, 'asks for a resume', RESUME_REQUESTS_MAX, 0);
  return null;
}

function isResumeRequest(command: Step['commands'][number]): boolean {
  return command.type === 'send' && (command.event as MachineEvent).type === 'resumeRequested';
}

function ofRun(moment: Moment): string | null {
  const { items, rules } = moment.step.after as RunState;
  for (const index of changedItems(moment)) {
    const item = items[index] as RunItem;
    const { key, phase, failures, ending } = item;
    const failureClass = ending?.failureClass ?? null;
    if (phase !== 'waiting' || failureClass === null) continue;
    const max = retryOf(item.own, rules).find(({ on }) => on.includes(failureClass))?.attempts ?? 0;
    const count = failures[failureClass] ?? 0;
    if (count > max) return `item "${key}" is tried again after ${count} failures, and ${max} is the bound`;
  }
  return null;
}
