/**
 * A machine of two lists for tests of what a driver stores: every event is a move that changes its state as it says.
 * Owns the moves; its states share what a move does not touch, as those of the product's machines do.
 */
import fc from 'fast-check';
import type { Machine, Step } from '../../core/machine/machine.ts';

export interface ListsState {
  readonly count: number;
  readonly isDone: boolean;
  /** True: its machine wants it stored whole. */
  readonly isWhole: boolean;
  readonly lists: Readonly<Record<string, readonly Element[]>>;
}

/** Objects, so that equal ones are not the same, and texts, of which equal ones are. */
type Element = string | { readonly from: number };

export type ListsMove =
  | { readonly type: 'move'; readonly kind: 'append' | 'replace'; readonly list: string; readonly at: number }
  | {
      readonly type: 'move';
      readonly kind: 'cut' | 'forget' | 'swap';
      readonly list: string;
      readonly at: number;
    }
  | {
      readonly type: 'move';
      readonly kind: 'finish' | 'whole' | 'ask';
      readonly list: string;
      readonly at: number;
    };

export const A_MOVE: fc.Arbitrary<ListsMove> = fc.record({
  type: fc.constant('move'),
  kind: fc.constantFrom(
    ...(['append', 'append', 'append', 'append', 'replace', 'replace', 'replace'] as const),
    ...(['swap', 'cut', 'forget', 'finish', 'whole', 'ask'] as const),
  ),
  list: fc.constantFrom('items', 'sandboxes'),
  at: fc.nat(8),
});

type State = ListsState | null;

/** Less than a pause before a commit is tried again. */
const TRY_MS = 100;

const BORN: ListsState = { count: 0, isDone: false, isWhole: false, lists: { items: [], sandboxes: [] } };

/** `deadline` events change nothing: nothing is ever due. */
export const listsMachine: Machine<State, ListsMove | { readonly type: 'deadline' }, never> = {
  name: 'lists',
  step: (state, event, now) =>
    event.type === 'move' ? moved(state ?? BORN, event, now) : { state, commands: [] },
  deadline: () => null,
  done: (state) => state?.isDone === true,
  parts: {
    split: (state) =>
      state === null || state.isWhole ? null : { head: { ...state, lists: {} }, lists: state.lists },
    join: ({ head, lists }) => ({ ...(head as ListsState), lists: lists as ListsState['lists'] }),
  },
};

/** Which element it is depends on the time: a batch that is made again is another one. */
function replaced({ length }: readonly Element[], at: number, now: number): number {
  return (at + Math.floor(now / TRY_MS)) % length;
}

function moved(state: ListsState, { kind, list, at }: ListsMove, now: number): Step<State, never> {
  const { lists, isDone, isWhole } = state;
  const count = state.count + 1;
  const before = lists[list] ?? [];
  const element: Element = at % 3 === 0 ? `element ${at}` : { from: count };
  const withList = (after: readonly Element[]): ListsState => ({
    ...{ count, isDone, isWhole },
    lists: { ...lists, [list]: after },
  });
  const to = (after: State): Step<State, never> => ({ state: after, commands: [] });
  switch (kind) {
    case 'append':
      return to(withList([...before, element, ...(at > 6 ? [element] : [])]));
    case 'replace':
      return before.length === 0 ? to(state) : to(withList(before.with(replaced(before, at, now), element)));
    case 'cut':
      return to(withList(before.slice(0, at)));
    // Elements that are known, in other places.
    case 'swap':
      return to(withList(before.toReversed()));
    case 'forget': {
      const { [list]: gone, ...rest } = lists;
      return to(gone === undefined ? state : { ...{ count, isDone, isWhole }, lists: rest });
    }
    case 'finish':
      return to({ ...state, count, isDone: !isDone });
    case 'whole':
      return to({ ...state, count, isWhole: !isWhole });
    case 'ask':
      return to(state);
  }
}
