/**
 * One step of a machine: a private copy of the state to write on, and the orders given so far.
 * Owns command ids and the detection of silent steps; must not know any machine's rules.
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
export interface StepContext<State extends Numbered, Body> {
  readonly state: Mutable<State>;
  readonly now: number;
  /**
   * Adds an order and returns its command id: the idempotency key of whatever carries it out.
   * The body is the order's own from here on, made for it alone: it becomes the command.
   */
  order(body: Body): string;
}

/** An order with its id: `<machine>/<entity>#<count>`. */
export type Identified<Body> = Body & { readonly id: string };

/** What a machine brings to each of its steps. */
export interface StepOptions<State extends Numbered, Body> {
  /** Prefix of command ids: the entity's address. */
  readonly prefixOf: (state: State) => string;
  readonly copy: (state: State) => Mutable<State>;
  /** Runs after the handler when something changed: sequence numbers, projections, notices. */
  readonly settle: (before: State, context: StepContext<State, Body>) => void;
}

/** Plays one handler. A handler that writes nothing and orders nothing gives back the very same state object. */
export function playStep<State extends Numbered, Body extends { readonly type: string }>(
  before: State,
  now: number,
  options: StepOptions<State, Body>,
  handler: (context: StepContext<State, Body>) => void,
): Step<State, Identified<Body>> {
  const commands: Identified<Body>[] = [];
  const state = options.copy(before);
  const context: StepContext<State, Body> = {
    state,
    now,
    order(body) {
      state.commandCount += 1;
      const id = `${options.prefixOf(before)}#${state.commandCount}`;
      insert(commands, withId(body, id));
      return id;
    },
  };
  handler(context);
  if (commands.length === 0 && shallowEqual(before, state)) return { state: before, commands };
  options.settle(before, context);
  return { state, commands: withoutUndone(commands) };
}

/** Written onto the body itself: a copy of every order would cost as much as the rest of its step. */
function withId<Body extends object>(body: Body, id: string): Identified<Body> {
  const command = body as Body & { id: string };
  command.id = id;
  return command;
}

/** What was ordered and cancelled in one step is never given to the driver: the cancellation would come first. */
function withoutUndone<Order extends { readonly type: string; readonly id: string }>(
  commands: readonly Order[],
): readonly Order[] {
  if (!commands.some((command) => cancelledId(command) !== null)) return commands;
  const own = new Set(commands.map(({ id }) => id));
  const undone = new Set(commands.map(cancelledId).filter((id) => id !== null && own.has(id)));
  return commands.filter((command) => !undone.has(command.id) && !undone.has(cancelledId(command)));
}

function cancelledId(command: { readonly type: string }): string | null {
  return command.type === 'cancelCommand' && 'commandId' in command ? String(command.commandId) : null;
}

/** Puts a command where the driver expects it: after those of its rank, before those of the next. */
function insert<Order extends { readonly type: string }>(commands: Order[], command: Order): void {
  const own = rank(command.type);
  let at = commands.length;
  while (at > 0 && rankAt(commands, at - 1) > own) {
    commands[at] = commands[at - 1] as Order;
    at -= 1;
  }
  commands[at] = command;
}

const rankAt = (commands: readonly { readonly type: string }[], at: number): number =>
  rank((commands[at] as { readonly type: string }).type);

/** The commands of one step form one batch: projection, sends, cancellations, then what takes long. */
function rank(type: string): number {
  switch (type) {
    case 'project':
      return 0;
    case 'send':
      return 1;
    case 'cancelCommand':
      return 2;
    default:
      return 3;
  }
}

function shallowEqual<State extends object>(a: State, b: State): boolean {
  for (const key in b) if (a[key] !== b[key]) return false;
  return true;
}
