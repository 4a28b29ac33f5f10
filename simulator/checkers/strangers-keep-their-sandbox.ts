/**
 * I28: the clean-up of a run takes no sandbox in which somebody else's conversation was when it was ordered (D11).
 * Owns the memory of who is where and whose; who comes in while the order is under way is placement's to refuse.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { SimulationStep } from '../simulation-options.ts';
import type { Moment, SafetyCheck } from './checker.ts';

interface Guest {
  readonly runId: string | null;
  /** Null while it is nowhere, and once it is leaving. */
  readonly sandboxId: string | null;
}
interface Order {
  readonly runId: string;
  readonly at: number;
}

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
