/**
 * Which calls a row could bill by its model, its time and, where both sides count alike, its tokens.
 * Owns a static interval index; must not decide what becomes of a row.
 */
import { int32Column } from '../columns.ts';
import { IntervalTree, type Range } from '../interval-tree.ts';
import type { CallTable } from './reconcile-calls.ts';
import { tokensKey } from './reconcile-contraries.ts';
import { matchRows, type Choices, type Matched } from './reconcile-matching.ts';

export interface Tolerance {
  readonly windowBeforeMs: number;
  readonly windowAfterMs: number;
}

/** A row as far as windows are concerned. */
export interface WindowRow {
  /** The name of the model that our proxy knows. */
  readonly model: string;
  /** When it may have begun by our clock: one instant for each clock. */
  readonly instants: readonly number[];
  /** Prompt and completion; null where it does not say them. */
  readonly tokens: readonly [number, number] | null;
  /** Ids that are no proof name this conversation: of others it cannot be. Null when they name none. */
  readonly owner: number | null;
}

export interface WindowOptions {
  readonly tolerance: Tolerance;
  readonly countsTokensAlike: boolean;
  /** The rows that will be asked about: calls that none of them fits are not kept. */
  readonly rows: readonly WindowRow[];
}

/** Instead of tokens: every call of the model, and those that do not say their tokens. */
const ALL = -1;
const SILENT = -2;
/** Instead of an owner: whoever it is. */
const ANYBODY = -2;

/** Calls that a row could be told by, of one model, owner and kind of tokens. */
interface Key {
  readonly model: number;
  readonly owner: number;
  readonly tokens: number;
}

export class CallWindows {
  private readonly calls: CallTable;
  private readonly options: WindowOptions;
  private readonly lists = new KeyedLists();
  private readonly tree: IntervalTree;
  /** Of each list, where its calls stand in the tree. */
  private readonly ranges: readonly Range[];

  /** `members` are the calls that are looked at. */
  constructor(calls: CallTable, members: Iterable<number>, options: WindowOptions) {
    this.calls = calls;
    this.options = options;
    const named = new Set<number>();
    for (const row of options.rows) {
      if (row.owner !== null) named.add(row.owner);
      for (const key of this.keysOfRow(row)) this.lists.open(key);
    }
    for (const call of members) this.addCall(call, named);
    const { tree, ranges } = treeOf(this.lists, calls, options.tolerance);
    [this.tree, this.ranges] = [tree, ranges];
  }

  private addCall(call: number, named: ReadonlySet<number>): void {
    const owner = this.calls.ownerAt(call);
    const [name, upstream] = this.calls.modelsAt(call);
    const told = this.options.countsTokensAlike ? this.calls.tokensAt(call) : null;
    const tokens = told === null ? SILENT : tokensKey(told);
    this.addUnder(call, { model: name, owner: ANYBODY, tokens });
    if (upstream !== name) this.addUnder(call, { model: upstream, owner: ANYBODY, tokens });
    if (!named.has(owner)) return;
    this.addUnder(call, { model: name, owner, tokens });
    if (upstream !== name) this.addUnder(call, { model: upstream, owner, tokens });
  }

  private addUnder(call: number, { model, owner, tokens }: Key): void {
    const byTokens = this.lists.under(model, owner);
    if (byTokens === undefined) return;
    this.lists.add(byTokens.get(ALL), call);
    this.lists.add(byTokens.get(tokens), call);
  }

  private keysOfRow(row: WindowRow): readonly Key[] {
    const key = this.keyOf(row);
    if (key === null) return [];
    const byTokens = this.keyByTokens(row);
    return byTokens === null ? [{ ...key, tokens: ALL }] : [byTokens, { ...key, tokens: SILENT }];
  }

  /** Null for a model of no call. */
  private keyOf({ model, owner }: WindowRow): Omit<Key, 'tokens'> | null {
    const place = this.calls.placeOfModel(model);
    return place === null ? null : { model: place, owner: owner ?? ANYBODY };
  }

  /** Null where tokens prove nothing. */
  private keyByTokens(row: WindowRow): Key | null {
    if (row.tokens === null || !this.options.countsTokensAlike) return null;
    const key = this.keyOf(row);
    return key === null ? null : { ...key, tokens: tokensKey(row.tokens) };
  }

  private rangesUnder(keys: readonly Key[]): readonly Range[] {
    // As long as the keys from the begin: an array that grows has room for sixteen more, and each row keeps its own.
    return keys.map((key) => {
      const list = this.lists.under(key.model, key.owner)?.get(key.tokens);
      return (list === undefined ? null : this.ranges[list]) ?? EMPTY;
    });
  }

  /** Owners of calls that fit, both ends of a window included; stops once it has `ownersMax`. */
  ownersAt(row: WindowRow, ownersMax: number): readonly number[] {
    return this.ownersUnder(this.rangesUnder(this.keysOfRow(row)), row, ownersMax);
  }

  /** Only of calls that say the very tokens of the row. */
  ownersByTokens(row: WindowRow, ownersMax: number): readonly number[] {
    const key = this.keyByTokens(row);
    return key === null ? [] : this.ownersUnder(this.rangesUnder([key]), row, ownersMax);
  }

  private ownersUnder(ranges: readonly Range[], { instants }: WindowRow, ownersMax: number) {
    const owners = new Set<number>();
    for (const range of ranges) {
      for (const at of instants) {
        for (const place of this.tree.holding(at, range)) {
          owners.add(this.calls.ownerAt(this.tree.memberAt(place)));
          if (owners.size >= ownersMax) return [...owners].sort((a, b) => a - b);
        }
      }
    }
    return [...owners].sort((a, b) => a - b);
  }

  /** Which windows have more rows than open calls, and otherwise a call for each row. */
  match(rows: readonly WindowRow[]): Matched {
    const searches = rows.map((row): Search => ({
      ranges: this.rangesUnder(this.keysOfRow(row)),
      instants: row.instants,
    }));
    const choices = () => treeChoices(this.tree.whole(), searches);
    return matchRows(rows.length, choices(), choices());
  }
}

/** Before the first entry of a list. */
const NOTHING = -1;

/** Lists by three numbers, without a text or an object for each question; there may be as many as rows. */
class KeyedLists {
  /** The last entry of each list, and of each entry its call and the entry before it. */
  private readonly lasts = int32Column();
  private readonly entries = int32Column();
  private readonly befores = int32Column();
  private readonly byModel = new Map<number, Map<number, Map<number, number>>>();

  open({ model, owner, tokens }: Key): void {
    const byOwner = this.byModel.get(model) ?? new Map<number, Map<number, number>>();
    this.byModel.set(model, byOwner);
    const byTokens = byOwner.get(owner) ?? new Map<number, number>();
    byOwner.set(owner, byTokens);
    if (!byTokens.has(tokens)) byTokens.set(tokens, this.lasts.push(NOTHING));
  }

  under(model: number, owner: number): ReadonlyMap<number, number> | undefined {
    return this.byModel.get(model)?.get(owner);
  }

  add(list: number | undefined, call: number): void {
    if (list === undefined) return;
    this.befores.push(this.lasts.at(list));
    this.lasts.set(list, this.entries.push(call));
  }

  /** How many entries all lists have. */
  get size(): number {
    return this.entries.length;
  }

  /** The calls of each list, the last one first. */
  *all(): Generator<number[]> {
    for (let list = 0; list < this.lasts.length; list += 1) {
      const calls: number[] = [];
      for (let entry = this.lasts.at(list); entry !== NOTHING; entry = this.befores.at(entry)) {
        calls.push(this.entries.at(entry));
      }
      yield calls;
    }
  }
}

/** Where a row is looked for. */
interface Search {
  readonly ranges: readonly Range[];
  readonly instants: readonly number[];
}

const EMPTY: Range = { low: 0, high: -1 };
const NOWHERE: Search = { ranges: [], instants: [] };

/** A call may stand in several ranges; it is dropped from each as it is met there. */
function treeChoices(tree: IntervalTree, searches: readonly Search[]): Choices {
  const out = new Set<number>();
  const dropped = new Map<number, { readonly range: Range; readonly place: number }[]>();
  const nextIn = (range: Range, at: number): number => {
    for (let place = tree.find(at, range); place >= 0; place = tree.find(at, range)) {
      const call = tree.memberAt(place);
      if (!out.has(call)) return call;
      tree.drop(place, range);
      dropped.set(call, [...(dropped.get(call) ?? []), { range, place }]);
    }
    return -1;
  };
  return {
    next: (row) => {
      const { ranges, instants } = searches[row] ?? NOWHERE;
      for (const range of ranges) {
        for (const at of instants) {
          const call = nextIn(range, at);
          if (call >= 0) return call;
        }
      }
      return -1;
    },
    takeOut: (call) => void out.add(call),
    putBack: (calls) => {
      for (const call of calls) {
        out.delete(call);
        for (const { range, place } of dropped.get(call) ?? []) tree.restore(place, range);
        dropped.delete(call);
      }
    },
  };
}

/** One list behind the other, each in the order of its windows. */
function treeOf(lists: KeyedLists, calls: CallTable, tolerance: Tolerance) {
  const members = new Uint32Array(lists.size);
  const ranges: Range[] = [];
  let low = 0;
  for (const list of lists.all()) {
    list.sort((a, b) => calls.startOf(a) - calls.startOf(b) || a - b);
    members.set(list, low);
    ranges.push({ low, high: low + list.length - 1 });
    low += list.length;
  }
  const [froms, tos] = [new Float64Array(members.length), new Float64Array(members.length)];
  for (const [place, call] of members.entries()) {
    froms[place] = calls.startOf(call) - tolerance.windowBeforeMs;
    tos[place] = calls.endAt(call) + tolerance.windowAfterMs;
  }
  return { tree: new IntervalTree({ members, froms, tos }, ranges), ranges };
}
