/**
 * What is to come, in one total order: time, then priority, then the order in which it was put in.
 * Owns the order and nothing else; must not know what an entry does.
 */

export interface HeapEntry {
  /** Epoch milliseconds of the virtual clock. */
  readonly at: number;
  /** Smaller goes first at one instant. */
  readonly priority: number;
  /** Unique; smaller goes first among equals. */
  readonly sequence: number;
}

function isBefore(a: HeapEntry, b: HeapEntry): boolean {
  if (a.at !== b.at) return a.at < b.at;
  return a.priority === b.priority ? a.sequence < b.sequence : a.priority < b.priority;
}

export class EventHeap<Entry extends HeapEntry> {
  private readonly entries: Entry[] = [];

  get size(): number {
    return this.entries.length;
  }

  peek(): Entry | undefined {
    return this.entries[0];
  }

  push(entry: Entry): void {
    const { entries } = this;
    let hole = entries.length;
    entries.push(entry);
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      const above = entries[parent] as Entry;
      if (!isBefore(entry, above)) break;
      entries[hole] = above;
      hole = parent;
    }
    entries[hole] = entry;
  }

  pop(): Entry | undefined {
    const { entries } = this;
    const first = entries[0];
    const last = entries.pop();
    if (first === undefined || last === undefined || entries.length === 0) return first;
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= entries.length) break;
      const right = entries[child + 1];
      if (right !== undefined && isBefore(right, entries[child] as Entry)) child += 1;
      if (!isBefore(entries[child] as Entry, last)) break;
      entries[hole] = entries[child] as Entry;
      hole = child;
    }
    entries[hole] = last;
    return first;
  }
}
