/**
 * What is to come, in one total order: time, then priority, then the order in which it was put in.
 * Owns the order and nothing else; must not know what an entry does.
 * The keys lie beside the entries in arrays of numbers: a comparison reads no object, which is most of its time.
 */

/** Something that happens at an instant. */
export interface HeapEntry {
  /** Epoch milliseconds of the virtual clock. */
  readonly at: number;
  /** Smaller goes first at one instant; an integer from 0 to 7. */
  readonly priority: number;
  /** Unique, an integer from 0 to 2^50; smaller goes first among equals. */
  readonly sequence: number;
}

/** Priority and sequence as one number, exact up to 2^53: what decides among entries of one instant. */
const SEQUENCES = 2 ** 50;

/** Entries there is room for at first; doubled whenever it is used up. */
const ROOM = 64;

/** The total order of all that is to come. */
export class EventHeap<Entry extends HeapEntry> {
  private readonly entries: Entry[] = [];
  private ats = new Float64Array(ROOM);
  private ranks = new Float64Array(ROOM);

  get size(): number {
    return this.entries.length;
  }

  peek(): Entry | undefined {
    return this.entries[0];
  }

  push(entry: Entry): void {
    const { entries } = this;
    const last = entries.length;
    entries.push(entry);
    if (last === this.ats.length) this.makeRoom();
    const { ats, ranks } = this;
    const { at } = entry;
    const rank = entry.priority * SEQUENCES + entry.sequence;
    let hole = last;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      const above = ats[parent] as number;
      if (above < at || (above === at && (ranks[parent] as number) < rank)) break;
      this.move(parent, hole);
      hole = parent;
    }
    entries[hole] = entry;
    ats[hole] = at;
    ranks[hole] = rank;
  }

  pop(): Entry | undefined {
    const { entries } = this;
    const first = entries[0];
    const last = entries.pop();
    if (first === undefined || last === undefined || entries.length === 0) return first;
    const hole = this.sink(entries.length);
    entries[hole] = last;
    return first;
  }

  /** Lets the keys that lie at `from` sink from the top to where they belong, and says where that is. */
  private sink(from: number): number {
    const { ats, ranks } = this;
    const at = ats[from] as number;
    const rank = ranks[from] as number;
    let hole = 0;
    for (let child = 1; child < from; child = 2 * hole + 1) {
      if (child + 1 < from && this.isBefore(child + 1, child)) child += 1;
      const below = ats[child] as number;
      if (below > at || (below === at && (ranks[child] as number) > rank)) break;
      this.move(child, hole);
      hole = child;
    }
    ats[hole] = at;
    ranks[hole] = rank;
    return hole;
  }

  private isBefore(a: number, b: number): boolean {
    const atA = this.ats[a] as number;
    const atB = this.ats[b] as number;
    return atA < atB || (atA === atB && (this.ranks[a] as number) < (this.ranks[b] as number));
  }

  private move(from: number, to: number): void {
    this.entries[to] = this.entries[from] as Entry;
    this.ats[to] = this.ats[from] as number;
    this.ranks[to] = this.ranks[from] as number;
  }

  private makeRoom(): void {
    const { ats, ranks } = this;
    this.ats = new Float64Array(2 * ats.length);
    this.ranks = new Float64Array(2 * ranks.length);
    this.ats.set(ats);
    this.ranks.set(ranks);
  }
}
