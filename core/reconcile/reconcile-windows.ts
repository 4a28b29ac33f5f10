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
  /** By the gateway's clock. */
  readonly startedAt: number;
  /** Prompt and completion as one number (tokensKey); null where it does not have them. */
  readonly tokens: number | null;
  /** Ids that are no proof name this conversation: the row cannot be of others. Null when they name none. */
  readonly owner: number | null;
}

export interface WindowOptions {
  readonly tolerance: Tolerance;
  readonly countsTokensAlike: boolean;
  /** How far each of the gateway's clocks is ahead of ours; where none is known, it is taken for ours. */
  readonly differencesMs: readonly number[];
  /** The rows that will be queried, each by its place: calls that none of them fits are not kept. */
  readonly rows: readonly WindowRow[];
}

/** Instead of tokens: every call of the model, and those that do not report their tokens. */
const ALL = -1;
const SILENT = -2;
const ANYBODY = -2;

/** Calls that could match a row, of one model, owner and kind of tokens. */
interface Key {
  readonly model: number;
  readonly owner: number;
  readonly tokens: number;
}

/** Of a row without such a list. */
const NO_LIST = -1;
const OWN_CLOCK: readonly number[] = [0];

export class CallWindows {
  private readonly calls: CallTable;
  private readonly options: WindowOptions;
  private readonly differencesMs: readonly number[];
  private readonly lists = new KeyedLists();
  /**
   * Of each row the list in which its call may stand: of calls with its tokens, or of all where tokens prove nothing.
   * NO_LIST for a model of no call.
   */
  private readonly firsts: Int32Array;
  /** And that of calls which do not report their tokens; NO_LIST where the first has all. */
  private readonly seconds: Int32Array;
  private readonly tree: IntervalTree;
  /** Of each list, where its calls stand in the tree. */
  private readonly ranges: readonly Range[];

  constructor(calls: CallTable, members: Iterable<number>, options: WindowOptions) {
    this.calls = calls;
    this.options = options;
    this.differencesMs = options.differencesMs.length === 0 ? OWN_CLOCK : options.differencesMs;
    const { rows } = options;
    [this.firsts, this.seconds] = [new Int32Array(rows.length), new Int32Array(rows.length)];
    const named = new Set<number>();
    for (const [place, row] of rows.entries()) {
      if (row.owner !== null) named.add(row.owner);
      [this.firsts[place], this.seconds[place]] = this.openLists(row);
    }
    for (const call of members) this.addCall(call, named);
    const { tree, ranges } = treeOf(this.lists, calls, options.tolerance);
    [this.tree, this.ranges] = [tree, ranges];
  }

  private openLists({ model: name, owner: named, tokens }: WindowRow): readonly [number, number] {
    const model = this.calls.placeOfModel(name);
    if (model === null) return [NO_LIST, NO_LIST];
    const owner = named ?? ANYBODY;
    if (tokens === null || !this.options.countsTokensAlike)
      return [this.lists.open({ model, owner, tokens: ALL }), NO_LIST];
    return [this.lists.open({ model, owner, tokens }), this.lists.open({ model, owner, tokens: SILENT })];
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

  /** Owners of calls that fit, both ends of a window included; stops once it has `ownersMax`. */
  ownersAt(place: number, ownersMax: number): readonly number[] {
    const owners: number[] = [];
    this.addOwners(owners, { place, lists: this.firsts, ownersMax });
    this.addOwners(owners, { place, lists: this.seconds, ownersMax });
    return owners.sort((a, b) => a - b);
  }

  /** Only of calls with exactly the tokens of the row. */
  ownersByTokens(place: number, ownersMax: number): readonly number[] {
    const owners: number[] = [];
    const hasTokens = this.seconds[place] !== NO_LIST;
    if (hasTokens) this.addOwners(owners, { place, lists: this.firsts, ownersMax });
    return owners.sort((a, b) => a - b);
  }

  private addOwners(
    owners: number[],
    { place, lists, ownersMax }: { place: number; lists: Int32Array; ownersMax: number },
  ): void {
    const range = this.ranges[lists[place] ?? NO_LIST];
    if (range === undefined) return;
    const { startedAt = 0 } = this.options.rows[place] ?? {};
    for (const difference of this.differencesMs) {
      for (const member of this.tree.holding(startedAt - difference, range)) {
        if (owners.length >= ownersMax) return;
        const owner = this.calls.ownerAt(this.tree.memberAt(member));
        // There are never many.
        if (!owners.includes(owner)) owners.push(owner);
      }
    }
  }

  /** Which windows have more rows than open calls, and otherwise a call for each row. */
  match(): Matched {
    const choices = () => this.choices(this.tree.whole());
    return matchRows(this.options.rows.length, choices(), choices());
  }

  /** A call may stand in several ranges; it is dropped from each when a search finds it there. */
  private choices(tree: IntervalTree): Choices {
    const out = new Set<number>();
    const dropped = new Map<number, { readonly range: Range; readonly place: number }[]>();
    const nextIn = (range: Range, at: number): number => {
      for (let place = tree.find(at, range); place >= 0; place = tree.find(at, range)) {
        const call = tree.memberAt(place);
        if (!out.has(call)) return call;
        tree.drop(place, range);
        const known = dropped.get(call);
        if (known === undefined) dropped.set(call, [{ range, place }]);
        else known.push({ range, place });
      }
      return -1;
    };
    const nextOf = (list: number | undefined, startedAt: number): number => {
      const range = this.ranges[list ?? NO_LIST];
      if (range === undefined) return -1;
      for (const difference of this.differencesMs) {
        const call = nextIn(range, startedAt - difference);
        if (call >= 0) return call;
      }
      return -1;
    };
    return {
      next: (row) => {
        const { startedAt = 0 } = this.options.rows[row] ?? {};
        const call = nextOf(this.firsts[row], startedAt);
        return call >= 0 ? call : nextOf(this.seconds[row], startedAt);
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
}

/** Before the first entry of a list. */
const NOTHING = -1;

/** Lists by three numbers, without a text or an object for each lookup; there may be as many as rows. */
class KeyedLists {
  /** The last entry of each list, and of each entry its call and the entry before it. */
  private readonly lasts = int32Column();
  private readonly entries = int32Column();
  private readonly befores = int32Column();
  private readonly byModel = new Map<number, Map<number, Map<number, number>>>();

  /** The list, which is made when it is new. */
  open({ model, owner, tokens }: Key): number {
    const byOwner = this.byModel.get(model) ?? new Map<number, Map<number, number>>();
    this.byModel.set(model, byOwner);
    const byTokens = byOwner.get(owner) ?? new Map<number, number>();
    byOwner.set(owner, byTokens);
    const known = byTokens.get(tokens);
    if (known !== undefined) return known;
    const list = this.lasts.push(NOTHING);
    byTokens.set(tokens, list);
    return list;
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
