/**
 * Invariants that hold of every machine: its table, its deadlines, requests that come again, its end.
 * Owns the checks that need no more than the steps of the machines.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import { addressKey, type MachineName } from '../../core/ids.ts';
import { REMEMBERED_REQUESTS_MAX } from '../../core/limits.ts';
import type { MachineEvent } from '../../core/machine/command.ts';
import { machineOf } from '../../core/machine/machines.ts';
import { isNewer } from '../../core/machine/snapshot.ts';
import type { RunItem, RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import { MACHINE_TABLES } from '../machine-tables.ts';
import { type Finding, type Moment, PUNCTUAL, type Rest, type SafetyCheck } from './checker.ts';
import { changedItems } from './of-runs.ts';

interface Phased {
  readonly phase: string;
}

/** I15: every transition stands in its machine's table. The tables are those that the machines run. */
export function alongTheTable({ step }: Moment): string | null {
  const before = step.before as Phased | null;
  const after = step.after as Phased;
  if (before === null) return initialPhaseProblem(step.address.machine, after);
  const cell = MACHINE_TABLES[step.address.machine][before.phase]?.[step.event.type];
  if (cell === undefined)
    return `${step.event.type} changed it in ${before.phase}, where the table has no cell`;
  return cell.to.includes(after.phase)
    ? null
    : `${step.event.type} led from ${before.phase} to ${after.phase}`;
}

/** The phase in which an entity is created; a run without items may be past its first phase at once. */
const BORN_AS: Readonly<Partial<Record<MachineName, string>>> = {
  sandbox: 'starting',
  conversation: 'placing',
};

function initialPhaseProblem(machine: MachineName, { phase }: Phased): string | null {
  const expected = BORN_AS[machine] ?? phase;
  return phase === expected ? null : `it began as ${phase}`;
}

/**
 * I18: a request that comes again changes nothing, whatever happened in between. It remembers what was taken; as
 * bounded as that of the machines.
 */
export function repeatsChangeNothing(): SafetyCheck {
  const taken = new Map<string, string[]>();
  return ({ step }: Moment) => {
    const id = requestIdOf(step.event);
    if (id === null) return null;
    const key = addressKey(step.address);
    const ids = taken.get(key) ?? [];
    taken.set(key, ids);
    if (ids.includes(id)) return `request "${id}" came again, and changed it again`;
    ids.push(id);
    if (ids.length >= REMEMBERED_REQUESTS_MAX) ids.shift();
    return null;
  };
}

/** Null for what is no request, and for an attachment, which is answered again since its answer can be lost. */
function requestIdOf(event: MachineEvent): string | null {
  switch (event.type) {
    case 'messageReceived':
      return event.messageId;
    case 'attachRequested':
    case 'attachAnswered':
    case 'resumeAnswered':
      return null;
    default:
      return 'requestId' in event ? event.requestId : null;
  }
}

/**
 * I19: what is newer is never overwritten by what is older (D14). Owns one comparison per kind of report: snapshots of
 * sandboxes, notices and reports of agents, notices of conversations.
 */
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

interface Due {
  readonly deadline: number;
  /** The true instant of the step that set it: a deadline that is over when it is set strikes at once. */
  readonly setAt: number;
}

/** I27: no entity is past a deadline: a timer strikes when it is due (D13), and not with whatever comes next. */
export function deadlinesAreMet(): SafetyCheck {
  const dues = new Map<string, Due>();
  return ({ step, timeliness = PUNCTUAL }: Moment) => {
    const { at, address, after } = step;
    const machine = machineOf(address.machine);
    const key = addressKey(address);
    const due = dues.get(key);
    const deadline = machine.done(after) ? null : machine.deadline(after);
    if (deadline === null) dues.delete(key);
    else if (due?.deadline !== deadline) dues.set(key, { deadline, setAt: at });
    if (due === undefined) return null;
    const latest = timeliness.upAfter(Math.max(due.deadline + timeliness.clockOffMs, due.setAt));
    return at <= latest ? null : `looked at ${at - latest} ms after its deadline`;
  };
}

/** I30: an entity that has ended for good stays so: no worker hosts it any more, and a cluster has closed it (D11). */
export function theEndedStayEnded({ step }: Moment): string | null {
  const { address, before, after, event } = step;
  const machine = machineOf(address.machine);
  if (before === null || !machine.done(before) || machine.done(after)) return null;
  return `${event.type} brought it back after its end`;
}

/** L8: no deadline is in the past (D13): an entity that waits for an instant got its turn when it came. */
export function deadlinesStrike({ entities, now, timeliness = PUNCTUAL }: Rest): readonly Finding[] {
  return entities.flatMap(({ address, state }) => {
    const machine = machineOf(address.machine);
    const deadline = machine.done(state) ? null : machine.deadline(state);
    if (deadline === null) return [];
    const overMs = now - deadline - timeliness.settleMs - timeliness.clockOffMs;
    if (overMs <= 0) return [];
    return [{ entity: addressKey(address), problem: `its deadline is over since ${overMs} ms` }];
  });
}
