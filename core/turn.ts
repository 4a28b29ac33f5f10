/**
 * One turn of a machine: a private copy of the state to write on, and the orders given so far.
 * Owns command ids and the detection of silent turns; must not know any machine's rules.
 */
import type { Step } from './machine.ts';

/** What every machine's state carries so that its commands have ids. */
export interface Numbered {
  readonly version: 1;
  /** Counts commands over the whole life; never reset, so no id is ever used twice. */
  readonly commandCount: number;
}

export type Mutable<State> = { -readonly [Field in keyof State]: State[Field] };

/** A handler writes on `state` and calls `order`; whatever it does not touch stays shared with the old state. */
export interface Turn<State extends Numbered, Body> {
  readonly state: Mutable<State>;
  readonly now: number;
  /** Adds an order and returns its command id: the idempotency key of whatever carries it out. */
  order(body: Body): string;
}

/** An order with its id: `<machine>/<entity>#<count>`. */
export type Identified<Body> = Body & { readonly id: string };

export interface TurnOptions<State, Body> {
  /** Prefix of command ids: the entity's address. */
  readonly prefix: string;
  /** Runs after the handler when something changed: sequence numbers, projections, notices. */
  readonly settle?: (before: State, turn: Turn<State & Numbered, Body>) => void;
}

/** Plays one handler. A handler that writes nothing and orders nothing gives back the very same state object. */
export function takeTurn<State extends Numbered, Body extends { readonly type: string }>(
  before: State,
  now: number,
  options: TurnOptions<State, Body>,
  handler: (turn: Turn<State, Body>) => void,
): Step<State, Identified<Body>> {
  const commands: Identified<Body>[] = [];
  const state: Mutable<State> = { ...before };
  const turn: Turn<State, Body> = {
    state,
    now,
    order(body) {
      state.commandCount += 1;
      const id = `${options.prefix}#${state.commandCount}`;
      commands.push({ ...body, id });
      return id;
    },
  };
  handler(turn);
  if (commands.length === 0 && shallowEqual(before, state)) return { state: before, commands };
  options.settle?.(before, turn as unknown as Turn<State & Numbered, Body>);
  return { state, commands: withoutUndone(commands).sort((a, b) => rank(a.type) - rank(b.type)) };
}

/** What was ordered and cancelled in one turn is never handed out: sorted, its cancellation would come before it. */
function withoutUndone<Order extends { readonly type: string; readonly id: string }>(
  commands: readonly Order[],
): Order[] {
  const own = new Set(commands.map(({ id }) => id));
  const undone = new Set(commands.map(cancelledId).filter((id) => id !== null && own.has(id)));
  return commands.filter((command) => !undone.has(command.id) && !undone.has(cancelledId(command)));
}

function cancelledId(command: { readonly type: string }): string | null {
  return command.type === 'cancelCommand' && 'commandId' in command ? String(command.commandId) : null;
}

/** One activation is handed out as one batch: projection, tells, cancellations, then what takes long. */
function rank(type: string): number {
  const short = ['project', 'tell', 'cancelCommand'].indexOf(type);
  return short === -1 ? 3 : short;
}

function shallowEqual<State extends object>(a: State, b: State): boolean {
  for (const key of Object.keys(b) as (keyof State)[]) if (a[key] !== b[key]) return false;
  return true;
}
