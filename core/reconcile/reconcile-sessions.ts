/**
 * Which call of its conversation a row bills that names the conversation and no call.
 * Owns the pairing, by tokens, model and time; must not decide whether the row may be believed.
 */
import type { CallTable } from './reconcile-calls.ts';
import { tokensKey } from './reconcile-contraries.ts';
import type { JudgedRow } from './reconcile-result.ts';

/** Open calls of one conversation that are compared with one row. */
const COMPARED_MAX = 1_000;

/** What counts for more than everything after it. */
const SAME_TOKENS = 4;
const SAME_MODEL = 2;
const NOT_REFUSED = 1;

export interface SessionRules {
  readonly countsTokensAlike: boolean;
  /** A row was joined by its id, so ids of rows and of calls are of one kind, and others are other calls. */
  readonly areIdsComparable: boolean;
  /** Null when it is not known. */
  readonly clockAheadMs: number | null;
  knownName(model: string): string;
}

export class SessionCalls {
  private readonly calls: CallTable;
  private readonly rules: SessionRules;
  private readonly openByOwner = new Map<number, number[]>();

  /** `owners` are the conversations that rows name. */
  constructor(calls: CallTable, owners: ReadonlySet<number>, rules: SessionRules) {
    this.calls = calls;
    this.rules = rules;
    for (const owner of owners) this.openByOwner.set(owner, []);
    for (let call = 0; call < calls.length; call += 1) {
      if (!calls.isBilled(call)) this.openByOwner.get(calls.ownerAt(call))?.push(call);
    }
    for (const open of this.openByOwner.values()) open.sort((a, b) => calls.startOf(a) - calls.startOf(b));
  }

  /** Closes the call that fits best; false when the conversation has none left that the row could bill. */
  close(owner: number, row: JudgedRow): boolean {
    const open = this.openByOwner.get(owner) ?? [];
    let [best, bestScore, bestGap] = [-1, -1, Infinity];
    for (const [place, call] of open.slice(0, COMPARED_MAX).entries()) {
      const score = this.score(call, row);
      const gap = score < bestScore ? Infinity : this.gap(call, row);
      if (score < 0 || score < bestScore || (score === bestScore && gap >= bestGap)) continue;
      [best, bestScore, bestGap] = [place, score, gap];
    }
    if (best < 0) return false;
    const [call = 0] = open.splice(best, 1);
    this.calls.close(call);
    return true;
  }

  /** −1 when the row cannot bill the call. */
  private score(call: number, row: JudgedRow): number {
    const { countsTokensAlike, areIdsComparable, knownName } = this.rules;
    // Had it been the row's own id, the row would have been joined by it.
    if (areIdsComparable && row.responseId !== null && this.calls.hasResponse(call)) return -1;
    const [told, counted] = [tokensOfRow(row), this.calls.tokensAt(call)];
    const areKnown = told !== null && counted !== null;
    const isSame = areKnown && told[0] === counted[0] && told[1] === counted[1];
    if (countsTokensAlike && areKnown && !isSame) return -1;
    const model = this.calls.placeOfModel(knownName(row.model));
    const hasModel = model !== null && this.calls.modelsAt(call).includes(model);
    return (
      (isSame ? SAME_TOKENS : 0) +
      (hasModel ? SAME_MODEL : 0) +
      (this.calls.isRefused(call) ? 0 : NOT_REFUSED)
    );
  }

  /** Without a known clock the order decides. */
  private gap(call: number, row: JudgedRow): number {
    const { clockAheadMs } = this.rules;
    return clockAheadMs === null ? 0 : Math.abs(row.startedAt - clockAheadMs - this.calls.startOf(call));
  }
}

/** Prompt and completion; null when the row says none. */
export function tokensOfRow({ promptTokens, completionTokens }: JudgedRow): readonly [number, number] | null {
  return promptTokens + completionTokens === 0 ? null : [promptTokens, completionTokens];
}

/** The same as one number. */
export function tokensKeyOfRow(row: JudgedRow): number | null {
  const tokens = tokensOfRow(row);
  return tokens === null ? null : tokensKey(tokens);
}
