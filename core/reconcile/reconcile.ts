/**
 * Joins what a gateway billed with the conversations that caused it, in the order of D27; evidence beats time (D35).
 * Owns the verdict on every row; must not fetch, parse or print.
 *
 * Near-linear, in one pass over the rows: what is exact is decided at once, the rest waits until the clocks are known.
 */
import { TextIndex } from '../columns.ts';
import { timeRows } from './reconcile-by-time.ts';
import { CallTable, NOBODY, UNBILLED_SHOWN_MAX } from './reconcile-calls.ts';
import { Contraries } from './reconcile-contraries.ts';
import { PairEvidence, type Clocks } from './reconcile-evidence.ts';
import { Groups } from './reconcile-groups.ts';
import type {
  JudgedRow,
  ReconcileQuestion,
  ReconcileRules,
  ReconcileSums,
  Reconciliation,
  RowVerdict,
  UnassignedWhy,
} from './reconcile-result.ts';
import { SessionCalls, tokensKeyOfRow, tokensOfRow } from './reconcile-sessions.ts';
import { RunningTotals } from './reconcile-sums.ts';
import { Judge, type Found } from './reconcile-verdict.ts';
import { WaitingRows } from './reconcile-waiting.ts';
import type { GatewayRow, JoinableCall } from '../money/spend.ts';

export function reconcile(question: ReconcileQuestion): Reconciliation {
  const verdicts: RowVerdict[] = [];
  const reconciler = new Reconciler(question, (verdict, _, index) => {
    verdicts[index] = verdict;
  });
  for (const call of question.spendRows) reconciler.addCall(call);
  for (const row of question.gatewayRows) reconciler.addRow(row);
  return { verdicts, ...reconciler.finish() };
}

const NO_OWNERS: readonly number[] = [];

/** The verdict on the `index`-th row added, from 0; exact ones come at once, the others at the end. */
export type OnVerdict = (verdict: RowVerdict, row: JudgedRow, index: number) => void;

/** First every call of ours, then every row of the gateway, then `finish`, once. */
export class Reconciler {
  private readonly rules: ReconcileRules;
  private readonly onVerdict: OnVerdict;
  private readonly calls: CallTable;
  private readonly judge: Judge;
  private readonly evidence = new PairEvidence();
  private readonly groups: Groups;
  private readonly totals: RunningTotals;
  private readonly contraries = new Contraries();
  /** Response ids that are none of ours, to find what is billed again. */
  private readonly strange = new TextIndex();
  private readonly bySession = new WaitingRows();
  private readonly byTime = new WaitingRows();
  private rowCount = 0;
  private readonly settling = this.settleEach();

  constructor(rules: ReconcileRules, onVerdict: OnVerdict) {
    this.rules = rules;
    this.onVerdict = onVerdict;
    this.calls = new CallTable(rules.conversations, rules.billReadAt);
    this.judge = new Judge(rules, this.calls);
    this.groups = new Groups(rules.conversations);
    this.totals = new RunningTotals(rules.conversations);
  }

  addCall(call: JoinableCall): void {
    this.calls.add(call);
  }

  addRow(row: GatewayRow): void {
    const index = this.rowCount;
    this.rowCount += 1;
    if (this.settleExact(row, index)) return;
    const isDuplicate = this.isStrangeAgain(row);
    const owner = this.calls.ownerOf(row.metadataSessionId) ?? this.calls.ownerOf(row.sessionId);
    if (owner !== null && this.rules.isForwarding) {
      this.bySession.add(row, { index, isDuplicate, owner });
      return;
    }
    const why = this.contrary(row);
    if (why === null) this.byTime.add(row, { index, isDuplicate, owner });
    else this.settleUnowned(row, { index, isDuplicate, why });
  }

  /** A credit belongs to its call, bills nothing, and has neither the time nor the tokens of the call. */
  private settleExact(row: GatewayRow, index: number): boolean {
    const exact = this.calls.exactCall(row);
    if (exact === null) return false;
    const { call, owners: all } = exact;
    const isDuplicate = exact.isBilledAgain && !isCredit(row);
    const startedAt = this.calls.startOf(call);
    if (!exact.isBilledAgain && !isCredit(row)) {
      this.calls.close(call);
      this.evidence.addDifference(row.startedAt - startedAt);
      const [told, counted] = [tokensOfRow(row), this.calls.tokensAt(call)];
      if (told !== null && counted !== null) {
        this.evidence.addTokens(told[0] === counted[0] && told[1] === counted[1]);
      }
    }
    // Nearly every response is of one call, and its row needs no list of its own.
    const owners = all.includes(NOBODY) ? all.filter((owner) => owner !== NOBODY) : all;
    const others = owners.length > 0 && owners.length < all.length;
    const doubt = others ? 'other_callers' : owners.length > 1 ? 'several' : null;
    const why = 'other_caller';
    this.settle(row, { index, owners, by: 'response_id', isDuplicate, startedAt, doubt, why });
    return true;
  }

  private isStrangeAgain({ responseId, cost }: GatewayRow): boolean {
    if (responseId === null || cost < 0) return false;
    const known = this.strange.length;
    return this.strange.add(responseId) < known;
  }

  /** What shows that the row is none of ours, whatever its time; null when nothing does (D35). */
  private contrary(row: GatewayRow): UnassignedWhy | null {
    const { responseId, metadataSessionId, sessionId } = row;
    const named = [metadataSessionId, sessionId].filter((id) => id !== null);
    if (this.rules.isForwarding && named.some((id) => this.calls.isOtherCaller(id))) return 'other_caller';
    if (responseId !== null && this.calls.hasResponseIds) return 'foreign';
    const owners = new Set(named.map((id) => this.calls.ownerOf(id)));
    if (owners.has(null) || owners.size > 1) return 'foreign';
    // What a credit takes back was billed, so that it belongs to none of the calls that are still open.
    return isCredit(row) ? 'no_candidate' : null;
  }

  private settleUnowned(
    row: GatewayRow,
    { index, isDuplicate, why }: Pick<Found, 'index' | 'isDuplicate' | 'why'>,
  ): void {
    const { startedAt } = row;
    if (why === 'foreign') this.contraries.addTokens(tokensKeyOfRow(row));
    this.settle(row, { index, owners: NO_OWNERS, by: 'window', isDuplicate, startedAt, doubt: null, why });
  }

  /**
   * Gives the verdicts on the rows that had to wait, one at each step: a caller that writes verdicts to a file need not
   * hold them all. `finish` does what is left of it.
   */
  settleWaiting(): Generator<void> {
    return this.settling;
  }

  private *settleEach(): Generator<void> {
    this.calls.forgetResponses();
    const clocks = this.evidence.clocks();
    yield* this.joinBySession(clocks);
    yield* this.joinByTime(clocks);
  }

  finish(): ReconcileSums {
    while (this.settling.next().done !== true);
    const clocks = this.evidence.clocks();
    const { unbilled, unbilledCalls } = this.countUnbilled();
    const { counts, ...totals } = this.totals.totals();
    const breakdown = this.groups.breakdown();
    const { medianMs: clockSkewMs, differencesMs: clocksMs } = clocks;
    return { ...totals, counts: { ...counts, unbilled }, unbilledCalls, breakdown, clockSkewMs, clocksMs };
  }

  private *joinBySession({ medianMs }: Clocks): Generator<void> {
    const rows = this.bySession;
    const owners = new Set<number>();
    for (let place = 0; place < rows.length; place += 1) owners.add(rows.ownerAt(place) ?? NOBODY);
    const sessions = new SessionCalls(this.calls, owners, {
      countsTokensAlike: this.evidence.countsTokensAlike(),
      areIdsComparable: medianMs !== null,
      clockAheadMs: medianMs,
      knownName: (model) => this.judge.knownName(model),
    });
    for (const place of rows.inOrderOfTime()) {
      const row = rows.rowAt(place);
      const { index, isDuplicate: wasStrange, owner: named } = rows.waitingAt(place);
      const owner = named ?? NOBODY;
      const isDuplicate = wasStrange || (!isCredit(row) && !sessions.close(owner, row));
      const startedAt = row.startedAt - (medianMs ?? 0);
      const why = 'no_candidate';
      this.settle(row, { index, owners: [owner], by: 'session', isDuplicate, startedAt, doubt: null, why });
      yield;
    }
  }

  private *joinByTime(clocks: Clocks): Generator<void> {
    if (this.byTime.length === 0) return;
    const order = this.byTime.inOrderOfTime();
    const timed = timeRows({ rows: this.byTime, order }, this.calls, {
      tolerance: this.rules,
      clocks,
      countsTokensAlike: this.evidence.countsTokensAlike(),
      contraries: this.contraries,
      knownName: (model) => this.judge.knownName(model),
    });
    const twins = new Set<string>();
    let at = 0;
    for (const { owners, isCrowded, doubt, call } of timed) {
      const place = order[at] ?? 0;
      at += 1;
      const row = this.byTime.rowAt(place);
      const { index, isDuplicate: wasStrange } = this.byTime.waitingAt(place);
      const isDuplicate = wasStrange || (isCrowded && isTwin(row, twins));
      const startedAt = row.startedAt - (clocks.medianMs ?? 0);
      if (doubt === null && owners.length === 1) this.calls.close(call);
      const why = 'no_candidate';
      this.settle(row, { index, owners, by: 'window', isDuplicate, startedAt, doubt, why });
      yield;
    }
  }

  private countUnbilled(): { readonly unbilled: number; readonly unbilledCalls: readonly string[] } {
    const unbilledCalls: string[] = [];
    let unbilled = 0;
    for (const { callId, owner, model } of this.calls.unbilled()) {
      unbilled += 1;
      if (unbilledCalls.length < UNBILLED_SHOWN_MAX) unbilledCalls.push(callId);
      const [user, team] = [this.calls.userOf(owner), this.calls.teamOf(owner)];
      this.groups.addUnbilled({ model, user, team, owner });
    }
    return { unbilled, unbilledCalls };
  }

  private settle(row: JudgedRow, found: Found): void {
    const verdict = this.judge.verdictOn(row, found);
    const isUnpriced = row.isUnpriced === true;
    const owner = verdict.kind === 'assigned' ? (found.owners[0] ?? null) : null;
    // Our side has the user that caused the call; the gateway has the owner of the key.
    const user = (owner === null ? null : this.calls.userOf(owner)) ?? row.user ?? null;
    const team = (owner === null ? null : this.calls.teamOf(owner)) ?? row.team ?? null;
    if (verdict.isDuplicate) this.contraries.addOther();
    this.totals.add(verdict, owner, isUnpriced);
    this.groups.addRow({ model: this.judge.knownName(row.model), user, team, owner }, verdict, isUnpriced);
    this.onVerdict(verdict, row, found.index);
  }
}

function isCredit({ cost }: JudgedRow): boolean {
  return cost < 0;
}

/** The same row came before, as far as that shows without an id. */
function isTwin(row: JudgedRow, seen: Set<string>): boolean {
  const { startedAt, endedAt, model, promptTokens, completionTokens, cost } = row;
  const face = [startedAt, endedAt, promptTokens, completionTokens, cost, model].join('\n');
  if (seen.has(face)) return true;
  seen.add(face);
  return false;
}
