/**
 * Rows that only model and time could join: who may have caused each, and why that is not certain (D27, D35).
 * Owns the doubts, and never calls certain what could be otherwise; must not settle a row.
 */
import { NOBODY, type CallTable } from './reconcile-calls.ts';
import { type Contraries, tokensKey } from './reconcile-contraries.ts';
import type { Clocks } from './reconcile-evidence.ts';
import type { AmbiguousWhy } from './reconcile-result.ts';
import { tokensKeyOfRow } from './reconcile-sessions.ts';
import { CANDIDATES_MAX } from './reconcile-verdict.ts';
import type { WaitingRows } from './reconcile-waiting.ts';
import { CallWindows, type Tolerance, type WindowRow, type WindowOptions } from './reconcile-windows.ts';

/** Rows without an id of ours, and not shown to be of other callers; an owner that they name is without proof. */
export interface TimedRows {
  readonly rows: WaitingRows;
  /** Their places, in the order of time. */
  readonly order: Uint32Array;
}

/** Of one row. */
export interface Timed {
  /** Conversations whose open calls it could bill. */
  readonly owners: readonly number[];
  /** There are more rows than open calls. */
  readonly isCrowded: boolean;
  /** Null when one conversation has caused it, or none. */
  readonly doubt: AmbiguousWhy | null;
  /** The open call that it is given; −1 for none. */
  readonly call: number;
}

export interface TimeRules {
  readonly tolerance: Tolerance;
  readonly clocks: Clocks;
  readonly countsTokensAlike: boolean;
  knownName(model: string): string;
}

/** One for each row, in order of time. What rows show of other callers is added to `contraries`. */
export function* timeRows(
  { rows: waiting, order }: TimedRows,
  calls: CallTable,
  { contraries, ...rules }: TimeRules & { readonly contraries: Contraries },
): Iterable<Timed> {
  const { differencesMs, hasLate } = rules.clocks;
  const rows = Array.from(order, (place): WindowRow => {
    const row = waiting.rowAt(place);
    const model = rules.knownName(row.model);
    return { model, startedAt: row.startedAt, tokens: tokensKeyOfRow(row), owner: waiting.ownerAt(place) };
  });
  const { tolerance, countsTokensAlike } = rules;
  const options = { tolerance, countsTokensAlike, differencesMs, rows };
  const open = new CallWindows(calls, calls.open(), options);
  const { crowded, callOf } = open.match();
  for (const [place, { tokens }] of rows.entries()) {
    const isUnowned = open.ownersAt(place, 1).length === 0;
    if (isUnowned || crowded[place] === 1) contraries.addTokens(tokens);
  }
  if (hasLate) contraries.addOther();
  const origins = new OtherOrigins(calls, { open, contraries, options });
  const isClockKnown = differencesMs.length > 0;
  for (let place = 0; place < rows.length; place += 1) {
    const all = open.ownersAt(place, CANDIDATES_MAX + 2);
    const owners = all.filter((owner) => owner !== NOBODY);
    const isCrowded = crowded[place] === 1;
    const hasOther = owners.length === 1 && origins.hasAny(place, owners[0] ?? NOBODY);
    const doubt = doubtOf({ all, owners, isCrowded, isClockKnown, hasOther });
    yield { owners, isCrowded, doubt, call: callOf[place] ?? -1 };
  }
}

interface Doubtful {
  /** With NOBODY for other callers. */
  readonly all: readonly number[];
  readonly owners: readonly number[];
  readonly isCrowded: boolean;
  readonly isClockKnown: boolean;
  /** Of the one candidate: something else could have caused the row, too. */
  readonly hasOther: boolean;
}

function doubtOf({ all, owners, isCrowded, isClockKnown, hasOther }: Doubtful): AmbiguousWhy | null {
  if (owners.length < all.length) return 'other_callers';
  if (isCrowded) return 'crowded';
  if (owners.length > 1) return 'several';
  if (!isClockKnown) return 'clock_unknown';
  return hasOther ? 'time_alone' : null;
}

/** Calls of several callers have these tokens. */
const SEVERAL = -2;

interface Known {
  readonly open: CallWindows;
  readonly contraries: Contraries;
  readonly options: WindowOptions;
}

/**
 * What else could have caused a row that fits the open calls of one conversation by model and time (D35).
 * Owns the question; must not search for the conversation, or decide what becomes of the row. Time shows which calls
 * could have caused a row, not that no other has. Two others could have: a call of another conversation that is billed
 * already, for the row may bill it again; and a caller that is none of ours, once the bill shows such a one. Against
 * both a row has its tokens, as long as no other is known to have the same.
 */
class OtherOrigins {
  private readonly open: CallWindows;
  private readonly contraries: Contraries;
  private readonly rows: WindowOptions['rows'];
  /** Of the bill as it is when this is constructed. */
  private readonly areShown: boolean;
  private readonly billed: CallWindows;
  /** By the tokens of rows: the owner of the calls that have them. */
  private readonly ownerByTokens = new Map<number, number | null>();

  constructor(calls: CallTable, { open, contraries, options }: Known) {
    this.open = open;
    this.contraries = contraries;
    this.rows = options.rows;
    this.areShown = contraries.areShown();
    this.billed = new CallWindows(calls, calls.closed(), options);
    if (!this.areShown) return;
    for (const { tokens } of options.rows) if (tokens !== null) this.ownerByTokens.set(tokens, null);
    for (let call = 0; call < calls.length; call += 1) this.learn(calls, call);
  }

  private learn(calls: CallTable, call: number): void {
    const tokens = calls.tokensAt(call);
    if (tokens === null) return;
    const key = tokensKey(tokens);
    const known = this.ownerByTokens.get(key);
    if (known === undefined) return;
    const owner = calls.ownerAt(call);
    this.ownerByTokens.set(key, known === null || known === owner ? owner : SEVERAL);
  }

  /** `place` is that of the row among those given. */
  hasAny(place: number, owner: number): boolean {
    const hasItsTokens = this.open.ownersByTokens(place, 1).length > 0;
    const again = hasItsTokens ? this.billed.ownersByTokens(place, 2) : this.billed.ownersAt(place, 2);
    if (again.some((other) => other !== owner)) return true;
    const { owner: named = null, tokens = null } = this.rows[place] ?? {};
    // No other caller has the id of a conversation, proof or not.
    if (named !== null || !this.areShown) return false;
    return !hasItsTokens || !this.isOnlyOf(tokens, owner);
  }

  private isOnlyOf(tokens: number | null, owner: number): boolean {
    if (tokens === null || this.contraries.haveTokens(tokens)) return false;
    return this.ownerByTokens.get(tokens) === owner;
  }
}
