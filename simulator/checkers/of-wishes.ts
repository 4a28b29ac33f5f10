/**
 * Invariants of conversations in a sandbox and their requests: pauses, resumes, room, a clean-up that spares others.
 * Owns what was requested and which agents work, by the true clock.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import { type SandboxState, transitionOf } from '../../core/sandbox/state.ts';
import type { SimulationStep } from '../simulation-options.ts';
import { type Moment, PUNCTUAL, type SafetyCheck } from './checker.ts';

const COMING_UP = ['starting', 'reserving', 'resuming'];

/**
 * I21: the last request to a sandbox in transition is what happens when the transition is over (D8). It remembers the
 * last request; one that was answered with a refusal is none.
 */
export function laterRequestWins(): SafetyCheck {
  const wishes = new Map<string, 'pause' | 'resume'>();
  return ({ step }: Moment) => {
    const { event, address } = step;
    const before = (step.before as SandboxState | null)?.phase ?? 'starting';
    const { phase } = step.after as SandboxState;
    const wish = wishes.get(address.id);
    if (phase !== before && !(COMING_UP.includes(before) && COMING_UP.includes(phase)))
      wishes.delete(address.id);
    else if (event.type === 'pauseRequested') wishes.set(address.id, 'pause');
    else if (event.type === 'resumeRequested') wishes.set(address.id, 'resume');
    if (event.type === 'sandboxReady' && phase !== before)
      return wish === 'pause' && phase === 'running'
        ? 'a pause was accepted, and it runs'
        : wish !== 'pause' && phase === 'pausing'
          ? 'it pauses, and nobody wishes that any more'
          : null;
    if (event.type !== 'sandboxStopped' || before !== 'pausing') return null;
    if (wish === 'resume')
      return phase === 'released' ? 'a resume was accepted, and it stays released' : null;
    return phase === 'reserving' ? 'it resumes, and nobody wishes that any more' : null;
  };
}

/**
 * I22: a conversation that waits for a resume is answered, and answered once (D7). It remembers answers, and checks who
 * still waits when a sandbox has come to rest.
 */
export function waitersAnswered(): SafetyCheck {
  const answered = new Set<string>();
  return ({ step }: Moment) => {
    for (const command of step.commands) {
      if (command.type !== 'send' || command.event.type !== 'resumeAnswered') continue;
      const { requestId } = command.event;
      if (answered.has(requestId)) return `request "${requestId}" is answered again`;
      answered.add(requestId);
    }
    const state = step.after as SandboxState;
    const [waiter] = state.waiters;
    if (waiter === undefined || state.phase === 'starting' || transitionOf(state) !== null) return null;
    return `request "${waiter.requestId}" waits, and it is ${state.phase}`;
  };
}

/**
 * I26: no sandbox is paused for idleness or to make room under an agent that has taken up work (D9, D17). It remembers
 * which agent works since when, by the true clock; what a poll saw is checked by of-idle-time.ts.
 */
export function workingKeepTheirSandbox(): SafetyCheck {
  const busy = new Map<string, ReadonlyMap<string, number>>();
  return ({ step, timeliness = PUNCTUAL }: Moment) => {
    const { event, at, address } = step;
    const before = step.before as SandboxState | null;
    const after = step.after as SandboxState;
    const known = busy.get(address.id);
    if (before?.attached !== after.attached) busy.set(address.id, busySince(after, known, at));
    if (before?.phase !== 'running' || after.phase !== 'pausing' || known === undefined) return null;
    if (event.type === 'pauseRequested' && event.reason === 'capacity' && known.size > 0)
      return `makes room, and ${[...known.keys()].join(', ')} works in it`;
    if (event.type !== 'idleReached') return null;
    // With a clock that is off, a poll and a start of work cannot be ordered more exactly than that.
    const seenBy = event.lookedAt + timeliness.clockOffMs;
    const late = [...known].find(([, since]) => since > seenBy);
    return late === undefined
      ? null
      : `paused as idle, and ${late[0]} works since ${late[1] - event.lookedAt} ms after the look`;
  };
}

function busySince(
  { attached }: SandboxState,
  known: ReadonlyMap<string, number> | undefined,
  at: number,
): ReadonlyMap<string, number> {
  const working = Object.entries(attached).filter(([, { activity }]) => activity === 'working');
  return new Map(working.map(([id]) => [id, known?.get(id) ?? at]));
}

interface Guest {
  readonly runId: string | null;
  /** Null while it is nowhere, and once it is leaving. */
  readonly sandboxId: string | null;
}
interface Order {
  readonly runId: string;
  readonly at: number;
}

/**
 * I28: the clean-up of a run takes no sandbox in which another owner's conversation was when it was ordered (D11). It
 * remembers which conversation is where and whose; placement refuses those that come while the order is under way.
 */
export function strangersKeepTheirSandbox(): SafetyCheck {
  const guests = new Map<string, Guest>();
  const orders = new Map<string, Order>();
  /** By sandbox and conversation: when the sandbox took it in. */
  const since = new Map<string, number>();
  return ({ step }: Moment) => {
    if (step.address.machine === 'conversation') guests.set(step.address.id, guestOf(step));
    if (step.address.machine === 'run') noteOrders(step, orders);
    if (step.address.machine !== 'sandbox') return null;
    noteArrivals(step, since);
    const { event, address, before, at } = step;
    if (event.type !== 'deleteRequested' && event.type !== 'pauseRequested') return null;
    const order = orders.get(event.requestId);
    if (order === undefined) return null;
    const stranger = Object.keys((before as SandboxState | null)?.attached ?? {}).find((id) => {
      const guest = guests.get(id);
      if (guest === undefined || guest.runId === order.runId || guest.sandboxId !== address.id) return false;
      return (since.get(`${address.id} ${id}`) ?? at) < order.at;
    });
    return stranger === undefined ? null : `run ${order.runId} takes it, and ${stranger} is in it`;
  };
}

function guestOf({ after }: SimulationStep): Guest {
  const { spec, sandboxId, phase } = after as ConversationState;
  const isLeaving = phase === 'deleting' || phase === 'deleted';
  return { runId: spec.runId, sandboxId: isLeaving ? null : sandboxId };
}

function noteOrders({ commands, at }: SimulationStep, orders: Map<string, Order>): void {
  for (const command of commands)
    if (command.type === 'cleanUpSandbox') orders.set(command.id, { runId: command.runId, at });
}

function noteArrivals({ before, after, address, at }: SimulationStep, since: Map<string, number>): void {
  const were = (before as SandboxState | null)?.attached;
  const { attached } = after as SandboxState;
  if (were === attached) return;
  for (const id of Object.keys(attached))
    if (were === undefined || !(id in were)) since.set(`${address.id} ${id}`, at);
}
