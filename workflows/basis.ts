/**
 * What a batch rests on, in few words, and the way back to just that.
 *
 * A replay does not always cut the history into the tasks of its first execution: a task that only kept a long batch
 * alive is joined with the next one, and so is a task that was lost, unless a page of the history ends with it. An
 * entity then takes at once what it took in two goes, or later than it did. So every answer says what its batch rests
 * on, and an execution that took other inputs goes back and takes just those.
 * Owns the comparison and the taking anew; must not announce a batch.
 */
import type { Entity } from './entity.ts';
import type { Inbox, Input, News } from './input.ts';

/** So many inputs of a kind in a row, all of one instant. */
export interface Share {
  readonly kind: News['kind'];
  readonly count: number;
  /** Epoch milliseconds of the workflow's clock. */
  readonly at: number;
}

/** Inputs as stretches of numbers, so that a long list stays short. */
export function basisOf(inputs: readonly Input[]): readonly Share[] {
  const shares: Share[] = [];
  for (const { kind, at } of inputs) {
    const last = shares.at(-1);
    if (last?.kind === kind && last.at === at)
      shares[shares.length - 1] = { kind, at, count: last.count + 1 };
    else shares.push({ kind, at, count: 1 });
  }
  return shares;
}

/**
 * Takes the entity to where just these inputs were applied since its last batch; the others are in the inbox then.
 * @throws Error the history is of another entity: there is less to take
 */
export function restOn(basis: readonly Share[], entity: Entity, inbox: Inbox): void {
  if (isSame(basis, basisOf(entity.inputs))) return;
  inbox.putBack(entity.rollback());
  for (const { kind, count, at } of basis) {
    // Inputs that do not count, such as repeats, were not counted then.
    for (let taken = 0; taken < count;) {
      const news = inbox.takeOne(kind);
      // A kind that no build has written is not there either: without this the loop would not end.
      if (!news) throw new Error(`Cannot go on as the history says: there is no further ${kind}`);
      taken += Number(entity.apply({ ...news, at }));
    }
  }
}

function isSame(one: readonly Share[], other: readonly Share[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ kind, count, at }, index) => {
      const twin = other[index];
      return twin?.kind === kind && twin.count === count && twin.at === at;
    })
  );
}
