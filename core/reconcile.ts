/**
 * Joins what a gateway billed with the conversations that caused it, in the order of D27.
 * Owns the verdict on every row; must not fetch, parse or print.
 *
 * Near-linear, in one pass over the rows: what is exact is decided at once, the rest waits until the clock skew is known.
 */
import { ZERO_USD } from './money.ts';
import { CallIndex, UNBILLED_SHOWN_MAX } from './reconcile-calls.ts';
import { Groups } from './reconcile-groups.ts';
import type {
  EstimatedShare,
  ReconcileConversation,
  ReconcileQuestion,
  ReconcileRules,
  ReconcileSums,
  Reconciliation,
  RowVerdict,
} from './reconcile-result.ts';
import { splitExactly } from './reconcile-split.ts';
import { RunningTotals } from './reconcile-sums.ts';
import { WindowIndex } from './reconcile-windows.ts';
import type { GatewayRow, SpendRow } from './spend.ts';

/** Candidates listed for one row: more say no more, and would make a busy hour quadratic. */
export const CANDIDATES_MAX = 64;

/** @throws RangeError when the total is no safe integer of nano-USD (about nine million USD). */
export function reconcile(question: ReconcileQuestion): Reconciliation {
  const verdicts: RowVerdict[] = [];
  const reconciler = new Reconciler(question, (verdict, _, index) => {
    verdicts[index] = verdict;
  });
  for (const call of question.spendRows) reconciler.addCall(call);
  for (const row of question.gatewayRows) reconciler.addRow(row);
  return { verdicts, ...reconciler.finish() };
}

const NO_SHARES: readonly EstimatedShare[] = [];

/** What became of the row that was added as the `index`-th, from 0; exact ones come at once, the others at the end. */
export type OnVerdict = (verdict: RowVerdict, row: GatewayRow, index: number) => void;

/** What is known of a row before it is judged. */
interface Found {
  readonly index: number;
  readonly owners: readonly number[];
  readonly by: 'response_id' | 'session' | 'window';
  readonly isDuplicate: boolean;
  /** When it began, by our clock. */
  readonly startedAt: number;
}

/** First every call of ours, then every row of theirs, then `finish`, once. */
export class Reconciler {
  private readonly rules: ReconcileRules;
  private readonly onVerdict: OnVerdict;
  private readonly calls: CallIndex;
  private readonly groups: Groups;
  private readonly totals: RunningTotals;
  /** Response ids that are none of ours, to tell what is billed again. */
  private readonly strange = new Set<string>();
  private readonly waiting: (Pick<Found, 'index' | 'isDuplicate'> & { readonly row: GatewayRow })[] = [];
  private rowCount = 0;

  constructor(rules: ReconcileRules, onVerdict: OnVerdict) {
    this.rules = rules;
    this.onVerdict = onVerdict;
    this.calls = new CallIndex(rules.conversations);
    this.groups = new Groups(rules.conversations);
    this.totals = new RunningTotals(rules.conversations);
  }

  addCall(call: SpendRow): void {
    this.calls.add(call);
  }

  addRow(row: GatewayRow): void {
    const index = this.rowCount;
    this.rowCount += 1;
    const exact = this.calls.bill(row);
    if (exact === null) {
      this.waiting.push({ index, row, isDuplicate: this.isStrangeAgain(row) });
      return;
    }
    const { owners, isBilledAgain: isDuplicate, startedAt } = exact;
    this.settle(row, { index, owners, by: 'response_id', isDuplicate, startedAt });
  }

  private isStrangeAgain({ responseId }: GatewayRow): boolean {
    if (responseId === null) return false;
    if (this.strange.has(responseId)) return true;
    this.strange.add(responseId);
    return false;
  }

  finish(): ReconcileSums {
    const clockSkewMs = this.calls.medianSkewMs();
    const windows = new WindowIndex(this.rules.conversations, this.rules);
    for (const { index, row, isDuplicate } of this.waiting) {
      const startedAt = row.startedAt - (clockSkewMs ?? 0);
      const named = this.namedOwner(row);
      const [by, owners] =
        named === null
          ? (['window', windows.ownersAt(this.knownName(row.model), startedAt, CANDIDATES_MAX + 1)] as const)
          : (['session', [named]] as const);
      this.settle(row, { index, owners, by, isDuplicate, startedAt });
    }
    const { unbilled, unbilledCalls } = this.countUnbilled();
    const { counts, ...totals } = this.totals.totals();
    const breakdown = this.groups.breakdown();
    return { ...totals, counts: { ...counts, unbilled }, unbilledCalls, breakdown, clockSkewMs };
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

  private settle(row: GatewayRow, found: Found): void {
    const verdict = this.judge(row, found);
    const isUnpriced = row.isUnpriced === true;
    const owner = verdict.kind === 'assigned' ? (found.owners[0] ?? null) : null;
    // Who caused it is for our side to say; the gateway knows whose key it was.
    const user = (owner === null ? null : this.calls.userOf(owner)) ?? row.user ?? null;
    const team = (owner === null ? null : this.calls.teamOf(owner)) ?? row.team ?? null;
    this.totals.add(verdict, isUnpriced);
    this.groups.addRow({ model: this.knownName(row.model), user, team, owner }, verdict, isUnpriced);
    this.onVerdict(verdict, row, found.index);
  }

  /** Without forwarding the column cannot be ours, whatever it says (D27). */
  private namedOwner(row: GatewayRow): number | null {
    if (!this.rules.isForwarding) return null;
    return this.calls.ownerOf(row.metadataSessionId) ?? this.calls.ownerOf(row.sessionId);
  }

  private knownName(model: string): string {
    return this.rules.modelAliases?.[model] ?? model;
  }

  private judge(row: GatewayRow, { owners, by, isDuplicate, startedAt }: Found): RowVerdict {
    const { position, cost } = row;
    const only = owners[0];
    // Written out field by field: there may be millions of verdicts, and copies of copies keep the collector busy.
    if (only === undefined) {
      const why = by === 'window' ? 'no_candidate' : 'other_caller';
      return { kind: 'unassigned', position, cost, isDuplicate, why };
    }
    if (owners.length > 1) {
      const { candidates, isTruncated, estimated } = this.share(row, owners);
      return { kind: 'ambiguous', position, cost, isDuplicate, candidates, isTruncated, estimated };
    }
    const conversation = this.conversationAt(only);
    const isLate = startedAt > endOf(conversation);
    const { conversationId } = conversation;
    return { kind: 'assigned', position, cost, isDuplicate, by, conversationId, isLate };
  }

  private share(row: GatewayRow, owners: readonly number[]) {
    const isTruncated = owners.length > CANDIDATES_MAX;
    const listed = owners.slice(0, CANDIDATES_MAX);
    const candidates = listed.map((owner) => this.conversationAt(owner).conversationId);
    if (isTruncated || this.rules.ambiguous === 'keep')
      return { candidates, isTruncated, estimated: NO_SHARES };
    const model = this.knownName(row.model);
    const parts = splitExactly(
      row.cost,
      listed.map((owner) => this.calls.tokensOf(owner, model)),
    );
    const estimated = candidates.map((conversationId, index) => ({
      conversationId,
      cost: parts[index] ?? ZERO_USD,
    }));
    return { candidates, isTruncated, estimated };
  }

  private conversationAt(owner: number): ReconcileConversation {
    const conversation = this.rules.conversations[owner];
    if (conversation === undefined) throw new RangeError(`Cannot name conversation ${owner}: there is none`);
    return conversation;
  }
}

/** Epoch milliseconds; Infinity while it goes on. */
function endOf({ endedAt, windows }: ReconcileConversation): number {
  if (endedAt !== undefined) return endedAt ?? Infinity;
  return windows.reduce((last, window) => Math.max(last, window.endedAt ?? Infinity), -Infinity);
}
