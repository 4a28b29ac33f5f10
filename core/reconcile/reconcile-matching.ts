/**
 * Which rows can all be had by calls of their own, and which are more than there are calls to have them.
 * Owns the matching of rows with calls and its crowded part (Dulmage and Mendelsohn); must not know what fits and why.
 */

/** The calls that fit a row, less those that were taken out. */
export interface Choices {
  /** A call that fits; −1 when none is left. */
  next(row: number): number;
  takeOut(call: number): void;
  putBack(calls: readonly number[]): void;
}

export interface Matched {
  /**
   * 1 for each row of a window with more rows than calls: whichever rows are given a call, another might have been
   * given it in their place. The others have a call in every way of giving as many calls as possible.
   */
  readonly crowded: Uint8Array;
  /** One way of giving calls; −1 for a row that got none. */
  readonly callOf: Int32Array;
}

/** `free` and `unseen` are two copies of the same choices, at first with all calls. */
export function matchRows(rowCount: number, free: Choices, unseen: Choices): Matched {
  const crowded = new Uint8Array(rowCount);
  const matching = new Matching(rowCount, free, unseen);
  for (let row = 0; row < rowCount; row += 1) {
    for (const stuck of matching.add(row)) crowded[stuck] = 1;
  }
  return { crowded, callOf: matching.callOf };
}

class Matching {
  private readonly free: Choices;
  private readonly unseen: Choices;
  private readonly rowOf = new Map<number, number>();
  readonly callOf: Int32Array;

  constructor(rowCount: number, free: Choices, unseen: Choices) {
    this.callOf = new Int32Array(rowCount).fill(-1);
    this.free = free;
    this.unseen = unseen;
  }

  /** Gives the row a call, others moving if need be; what it looked through when it finds none. */
  add(row: number): readonly number[] {
    // Grows while it is gone through; a row is in it once, because a call is seen once.
    const queue = [row];
    const seen: number[] = [];
    /** From whose choices a call was reached. */
    const reachedFrom = new Map<number, number>();
    for (const at of queue) {
      const open = this.free.next(at);
      if (open >= 0) {
        this.free.takeOut(open);
        this.move(at, open, reachedFrom);
        this.unseen.putBack(seen);
        return [];
      }
      for (let call = this.unseen.next(at); call >= 0; call = this.unseen.next(at)) {
        this.unseen.takeOut(call);
        seen.push(call);
        reachedFrom.set(call, at);
        const holder = this.rowOf.get(call);
        if (holder !== undefined) queue.push(holder);
      }
    }
    // What was seen stays out: nothing free can be reached through it, now or later.
    return queue;
  }

  private move(row: number, call: number, reachedFrom: ReadonlyMap<number, number>): void {
    let [to, given] = [row, call];
    for (;;) {
      const before = this.callOf[to] ?? -1;
      this.callOf[to] = given;
      this.rowOf.set(given, to);
      const next = reachedFrom.get(before);
      if (next === undefined) return;
      [to, given] = [next, before];
    }
  }
}
