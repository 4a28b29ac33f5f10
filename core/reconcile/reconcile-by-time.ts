/**
 * Rows that only model and time could join: whose each may be, and why that is not certain (D27, D35).
 * Owns the doubts, and never calls certain what could be otherwise; must not settle a row.
 */
import { NOBODY, type CallTable } from './reconcile-calls.ts';
import type { Contraries } from './reconcile-contraries.ts';
import type { Clocks } from './reconcile-evidence.ts';
import { OtherOrigins } from './reconcile-origins.ts';
import type { AmbiguousWhy } from './reconcile-result.ts';
import { tokensOfRow } from './reconcile-sessions.ts';
import { CANDIDATES_MAX } from './reconcile-verdict.ts';
import { CallWindows, type Tolerance, type WindowRow } from './reconcile-windows.ts';
import type { GatewayRow } from '../money/spend.ts';

/** A row that has no id of ours and that nothing shows to be somebody else's. */
export interface TimedRow {
  readonly row: GatewayRow;
  /** The conversation that it names without proof; null when it names none. */
  readonly owner: number | null;
}

/** Of one row. */
export interface Timed {
  /** Conversations whose open calls it could bill. */
  readonly owners: readonly number[];
  /** More rows than open calls are there. */
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

/** One for each row, in their order, which is that of time. What rows show of others is added to `contraries`. */
export function* timeRows(
  waiting: readonly TimedRow[],
  calls: CallTable,
  { contraries, ...rules }: TimeRules & { readonly contraries: Contraries },
): Iterable<Timed> {
  const { differencesMs, hasLate } = rules.clocks;
  const rows = waiting.map(({ row, owner }): WindowRow => {
    const instants = differencesMs.map((difference) => row.startedAt - difference);
    const model = rules.knownName(row.model);
    return {
      model,
      tokens: tokensOfRow(row),
      owner,
      instants: instants.length === 0 ? [row.startedAt] : instants,
    };
  });
  const options = { tolerance: rules.tolerance, countsTokensAlike: rules.countsTokensAlike, rows };
  const open = new CallWindows(calls, calls.open(), options);
  const { crowded, callOf } = open.match(rows);
  for (const [place, row] of rows.entries()) {
    const isNobodys = open.ownersAt(row, 1).length === 0;
    if (isNobodys || crowded[place] === 1) contraries.addTokens(row.tokens);
  }
  if (hasLate) contraries.addOther();
  const origins = new OtherOrigins(calls, { open, contraries, options });
  const isClockKnown = differencesMs.length > 0;
  for (const [place, row] of rows.entries()) {
    const all = open.ownersAt(row, CANDIDATES_MAX + 2);
    const owners = all.filter((owner) => owner !== NOBODY);
    const isCrowded = crowded[place] === 1;
    const hasOther = owners.length === 1 && origins.hasAny(row, owners[0] ?? NOBODY);
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
