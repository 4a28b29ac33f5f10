/**
 * Joins what a gateway billed with the conversations that caused it, in the order of D27.
 * Owns the verdict on every row and the totals; must not fetch, parse or print.
 *
 * Near-linear: an index by response id, one by identity, an interval tree by model; one pass over the rows for what is
 * exact, and one over the rest once the clock skew is known.
 */
import { addUsd, nanoUsd, ZERO_USD, type NanoUsd } from './money.ts';
import { CallIndex } from './reconcile-calls.ts';
import type {
  ConversationTotal,
  EstimatedShare,
  ReconcileConversation,
  ReconcileCounts,
  ReconcileQuestion,
  Reconciliation,
  RowVerdict,
} from './reconcile-result.ts';
import { splitExactly } from './reconcile-split.ts';
import { WindowIndex } from './reconcile-windows.ts';
import type { GatewayRow } from './spend.ts';

/** Candidates listed for one row: more say no more, and would make a busy hour quadratic. */
export const CANDIDATES_MAX = 64;

/** @throws RangeError when the total is no safe integer of nano-USD (about nine million USD). */
export function reconcile(question: ReconcileQuestion): Reconciliation {
  const { gatewayRows, conversations } = question;
  const calls = new CallIndex(conversations, question.spendRows);
  const exact = gatewayRows.map((row) => calls.bill(row));
  const clockSkewMs = calls.medianSkewMs();
  const judge = new Judge(question, calls, clockSkewMs ?? 0);
  const verdicts = gatewayRows.map((row, index) => judge.judge(row, exact[index]?.owners ?? null));
  const totals = sumUp(verdicts, conversations);
  const unbilled = calls.unbilled();
  return {
    verdicts,
    ...totals,
    counts: { ...totals.counts, unbilled: unbilled.count },
    unbilledCalls: unbilled.callIds,
    clockSkewMs,
  };
}

const NO_SHARES: readonly EstimatedShare[] = [];

/** Decides row by row; remembers which response ids were billed already. */
class Judge {
  private readonly question: ReconcileQuestion;
  private readonly calls: CallIndex;
  private readonly clockSkewMs: number;
  private readonly windows: WindowIndex;
  private readonly billed = new Set<string>();
  private readonly lastEnds: readonly number[];

  constructor(question: ReconcileQuestion, calls: CallIndex, clockSkewMs: number) {
    this.question = question;
    this.calls = calls;
    this.clockSkewMs = clockSkewMs;
    this.windows = new WindowIndex(question.conversations, question);
    this.lastEnds = question.conversations.map(({ windows }) =>
      windows.reduce((last, { endedAt }) => Math.max(last, endedAt ?? Infinity), -Infinity),
    );
  }

  /** `exact`: owners of the call that the row's response id names; null when it names none of ours. */
  judge(row: GatewayRow, exact: readonly number[] | null): RowVerdict {
    const isDuplicate = this.isBilledAgain(row);
    if (exact !== null) return this.decide(row, { owners: exact, by: 'response_id', isDuplicate });
    const named = this.namedOwner(row);
    if (named !== null) return this.decide(row, { owners: [named], by: 'session', isDuplicate });
    const at = row.startedAt - this.clockSkewMs;
    const owners = this.windows.ownersAt(row.model, at, CANDIDATES_MAX + 1);
    return this.decide(row, { owners, by: 'window', isDuplicate });
  }

  private isBilledAgain({ responseId }: GatewayRow): boolean {
    if (responseId === null) return false;
    const isAgain = this.billed.has(responseId);
    this.billed.add(responseId);
    return isAgain;
  }

  /** Without forwarding the column cannot be ours, whatever it says (D27). */
  private namedOwner(row: GatewayRow): number | null {
    if (!this.question.isForwarding) return null;
    return this.calls.ownerOf(row.metadataSessionId) ?? this.calls.ownerOf(row.sessionId);
  }

  private decide(row: GatewayRow, found: Found): RowVerdict {
    const { owners, by, isDuplicate } = found;
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
    const isLate = row.startedAt - this.clockSkewMs > (this.lastEnds[only] ?? Infinity);
    const conversationId = this.idOf(only);
    return { kind: 'assigned', position, cost, isDuplicate, by, conversationId, isLate };
  }

  private share(row: GatewayRow, owners: readonly number[]) {
    const isTruncated = owners.length > CANDIDATES_MAX;
    const listed = owners.slice(0, CANDIDATES_MAX);
    const candidates = listed.map((owner) => this.idOf(owner));
    if (isTruncated || this.question.ambiguous === 'keep')
      return { candidates, isTruncated, estimated: NO_SHARES };
    const weights = listed.map((owner) => this.calls.tokensOf(owner, row.model));
    const parts = splitExactly(row.cost, weights);
    const estimated = candidates.map((conversationId, index) => ({
      conversationId,
      cost: parts[index] ?? ZERO_USD,
    }));
    return { candidates, isTruncated, estimated };
  }

  private idOf(owner: number): ReconcileConversation['conversationId'] {
    const conversation = this.question.conversations[owner];
    if (conversation === undefined) throw new RangeError(`Cannot name conversation ${owner}: there is none`);
    return conversation.conversationId;
  }
}

interface Found {
  readonly owners: readonly number[];
  readonly by: 'response_id' | 'session' | 'window';
  readonly isDuplicate: boolean;
}

type Totals = Pick<
  Reconciliation,
  'conversations' | 'total' | 'assigned' | 'ambiguous' | 'unassigned' | 'estimated'
> & { readonly counts: Omit<ReconcileCounts, 'unbilled'> };

function sumUp(verdicts: readonly RowVerdict[], conversations: readonly ReconcileConversation[]): Totals {
  const perConversation = new Map(
    conversations.map(({ conversationId, key }) => [
      conversationId,
      { conversationId, key, rows: 0, assigned: ZERO_USD, estimated: ZERO_USD },
    ]),
  );
  const sums = { assigned: ZERO_USD, ambiguous: ZERO_USD, unassigned: ZERO_USD };
  let estimated = ZERO_USD;
  for (const verdict of verdicts) {
    sums[verdict.kind] = addUsd(sums[verdict.kind], verdict.cost);
    for (const share of sharesOf(verdict)) {
      const total = perConversation.get(share.conversationId);
      if (total === undefined) continue;
      const field = verdict.kind === 'assigned' ? 'assigned' : 'estimated';
      total[field] = addUsd(total[field], share.cost);
      total.rows += 1;
      if (field === 'estimated') estimated = addUsd(estimated, share.cost);
    }
  }
  const totals: readonly ConversationTotal[] = [...perConversation.values()];
  const total: NanoUsd = nanoUsd(sums.assigned + sums.ambiguous + sums.unassigned);
  return { conversations: totals, total, ...sums, estimated, counts: count(verdicts, totals) };
}

function sharesOf(verdict: RowVerdict): readonly EstimatedShare[] {
  switch (verdict.kind) {
    case 'assigned':
      return [verdict];
    case 'ambiguous':
      return verdict.estimated;
    case 'unassigned':
      return [];
  }
}

function count(
  verdicts: readonly RowVerdict[],
  totals: readonly ConversationTotal[],
): Omit<ReconcileCounts, 'unbilled'> {
  const by = { response_id: 0, session: 0, window: 0, ambiguous: 0, unassigned: 0, duplicates: 0, late: 0 };
  for (const verdict of verdicts) {
    by[verdict.kind === 'assigned' ? verdict.by : verdict.kind] += 1;
    if (verdict.isDuplicate) by.duplicates += 1;
    if (verdict.kind === 'assigned' && verdict.isLate) by.late += 1;
  }
  return {
    rows: verdicts.length,
    byResponseId: by.response_id,
    bySession: by.session,
    byWindow: by.window,
    ambiguous: by.ambiguous,
    unassigned: by.unassigned,
    duplicates: by.duplicates,
    late: by.late,
    conversationsWithoutRows: totals.filter(({ rows }) => rows === 0).length,
  };
}
