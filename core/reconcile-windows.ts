/**
 * Which calls a row could bill by its model, its time and, where both sides count alike, its tokens.
 * Owns a static interval index; must not decide what becomes of a row.
 */
import { IntervalTree, type Stretches } from './interval-tree.ts';
import type { CallTable } from './reconcile-calls.ts';
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

/** Every call of the model, and those that do not say their tokens. */
const ALL = '*';
const SILENT = '?';

export class CallWindows {
  private readonly calls: CallTable;
  private readonly options: WindowOptions;
  private readonly trees = new Map<string, IntervalTree>();

  /** `members` are the calls that are looked at. */
  constructor(calls: CallTable, members: Iterable<number>, options: WindowOptions) {
    this.calls = calls;
    this.options = options;
    const byKey = new Map<string, number[]>();
    const named = new Set<number>();
    for (const row of options.rows) {
      if (row.owner !== null) named.add(row.owner);
      for (const key of this.keysOfRow(row)) byKey.set(key, []);
    }
    for (const call of members) for (const key of this.keysOfCall(call, named)) byKey.get(key)?.push(call);
    for (const [key, found] of byKey) {
      if (found.length > 0) this.trees.set(key, new IntervalTree(windowsOf(found, calls, options.tolerance)));
    }
  }

  private keysOfCall(call: number, named: ReadonlySet<number>): readonly string[] {
    const owner = this.calls.ownerAt(call);
    const groups = [ALL];
    if (this.options.countsTokensAlike) groups.push(this.calls.tokensAt(call)?.join() ?? SILENT);
    return this.calls.modelsOf(call).flatMap((model) =>
      groups.flatMap((group) => {
        const key = keyOf(model, group, null);
        return named.has(owner) ? [key, keyOf(model, group, owner)] : [key];
      }),
    );
  }

  private keysOfRow(row: WindowRow): readonly string[] {
    const byTokens = this.keyByTokens(row);
    const { model, owner } = row;
    return byTokens === null ? [keyOf(model, ALL, owner)] : [byTokens, keyOf(model, SILENT, owner)];
  }

  /** Null where tokens prove nothing. */
  private keyByTokens({ model, tokens, owner }: WindowRow): string | null {
    return tokens === null || !this.options.countsTokensAlike ? null : keyOf(model, tokens.join(), owner);
  }

  /** Owners of calls that fit, both ends of a window included; stops once it has `ownersMax`. */
  ownersAt(row: WindowRow, ownersMax: number): readonly number[] {
    return this.ownersUnder(this.keysOfRow(row), row, ownersMax);
  }

  /** Only of calls that say the very tokens of the row. */
  ownersByTokens(row: WindowRow, ownersMax: number): readonly number[] {
    const key = this.keyByTokens(row);
    return key === null ? [] : this.ownersUnder([key], row, ownersMax);
  }

  private ownersUnder(keys: readonly string[], { instants }: WindowRow, ownersMax: number) {
    const owners = new Set<number>();
    for (const key of keys) {
      const tree = this.trees.get(key);
      if (tree === undefined) continue;
      for (const at of instants) {
        for (const place of tree.holding(at)) {
          owners.add(this.calls.ownerAt(tree.memberAt(place)));
          if (owners.size >= ownersMax) return [...owners].sort((a, b) => a - b);
        }
      }
    }
    return [...owners].sort((a, b) => a - b);
  }

  /** Which windows have more rows than open calls, and otherwise a call for each row. */
  match(rows: readonly WindowRow[]): Matched {
    return matchRows(rows.length, this.choices(rows), this.choices(rows));
  }

  private choices(rows: readonly WindowRow[]): Choices {
    const whole = new Map([...this.trees].map(([key, tree]) => [key, tree.whole()]));
    const keys = rows.map((row) => this.keysOfRow(row));
    return treeChoices((row) => ({
      trees: (keys[row] ?? []).flatMap((key) => whole.get(key) ?? []),
      instants: rows[row]?.instants ?? [],
    }));
  }
}

function keyOf(model: string, group: string, owner: number | null): string {
  return `${owner ?? ''}\n${group}\n${model}`;
}

/** A call may stand in several trees; it is dropped from each as it is met there. */
function treeChoices(
  searchOf: (row: number) => {
    readonly trees: readonly IntervalTree[];
    readonly instants: readonly number[];
  },
): Choices {
  const out = new Set<number>();
  const dropped = new Map<number, { readonly tree: IntervalTree; readonly place: number }[]>();
  const nextIn = (tree: IntervalTree, at: number): number => {
    for (let place = tree.find(at); place >= 0; place = tree.find(at)) {
      const call = tree.memberAt(place);
      if (!out.has(call)) return call;
      tree.drop(place);
      dropped.set(call, [...(dropped.get(call) ?? []), { tree, place }]);
    }
    return -1;
  };
  return {
    next: (row) => {
      const { trees, instants } = searchOf(row);
      for (const tree of trees) {
        for (const at of instants) {
          const call = nextIn(tree, at);
          if (call >= 0) return call;
        }
      }
      return -1;
    },
    takeOut: (call) => void out.add(call),
    putBack: (calls) => {
      for (const call of calls) {
        out.delete(call);
        for (const { tree, place } of dropped.get(call) ?? []) tree.restore(place);
        dropped.delete(call);
      }
    },
  };
}

function windowsOf(members: readonly number[], calls: CallTable, tolerance: Tolerance): Stretches {
  const sorted = Uint32Array.from(members).sort((a, b) => calls.startOf(a) - calls.startOf(b) || a - b);
  return {
    members: sorted,
    froms: Float64Array.from(sorted, (call) => calls.startOf(call) - tolerance.windowBeforeMs),
    tos: Float64Array.from(sorted, (call) => calls.endAt(call) + tolerance.windowAfterMs),
  };
}
