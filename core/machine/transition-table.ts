/**
 * Transition tables as data: phases × events, each cell with its words, its targets and its handler.
 * Owns lookup and enumeration; the same table is what `step` runs, what tests walk and what docs/lifecycle.md prints.
 */

/** A cell that does something. `to` lists every phase it may end in; `says` is its line in the docs. */
export interface Cell<Phase extends string, Context, Event> {
  readonly to: readonly Phase[];
  readonly says: string;
  readonly run: (context: Context, event: Event) => void;
}

/** For each phase the cells it has; an absent cell means the event changes nothing there (late, repeated, impossible). */
export type TransitionTable<Phase extends string, Context, Event extends { readonly type: string }> = {
  readonly [P in Phase]: {
    readonly [T in Event['type']]?: Cell<Phase, Context, Extract<Event, { readonly type: T }>>;
  };
};

type CellOf<Phase extends string, Context, Event, Type> = Cell<
  Phase,
  Context,
  Extract<Event, { readonly type: Type }>
>;

/** How a machine writes its cells; `around` says what every one of them does besides, or when it does nothing. */
export function cellsOf<Phase extends string, Context, Event extends { readonly type: string }>(
  around: (run: () => void, context: Context, event: Event) => void = (run) => run(),
) {
  return <Type extends Event['type']>(
    to: readonly Phase[],
    says: string,
    run: CellOf<Phase, Context, Event, Type>['run'],
  ): CellOf<Phase, Context, Event, Type> => ({
    to,
    says,
    run: (context, event) => around(() => run(context, event), context, event),
  });
}

/** Runs the cell of (phase, event type); false when there is none. */
export function runCell<Phase extends string, Context, Event extends { readonly type: string }>(
  table: TransitionTable<Phase, Context, Event>,
  phase: Phase,
  context: Context,
  event: Event,
): boolean {
  const row = table[phase] as Readonly<Record<string, Cell<Phase, Context, Event> | undefined>>;
  const cell = row[event.type];
  if (cell === undefined) return false;
  cell.run(context, event);
  return true;
}
