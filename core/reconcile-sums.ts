/**
 * The running totals of a reconciliation, verdict by verdict.
 * Owns the sums and counts; must not keep a row or a verdict.
 */
import { addUsd, nanoUsd, ZERO_USD, type NanoUsd } from './money.ts';
import type {
  ConversationTotal,
  EstimatedShare,
  ReconcileConversation,
  ReconcileCounts,
  RowVerdict,
} from './reconcile-result.ts';

export interface Totals {
  readonly conversations: readonly ConversationTotal[];
  readonly total: NanoUsd;
  readonly assigned: NanoUsd;
  readonly ambiguous: NanoUsd;
  readonly unassigned: NanoUsd;
  readonly estimated: NanoUsd;
  readonly counts: Omit<ReconcileCounts, 'unbilled'>;
}

type Counting<Fields> = { -readonly [Field in keyof Fields]: Fields[Field] };

export class RunningTotals {
  private readonly perConversation: ReadonlyMap<string, Counting<ConversationTotal>>;
  private readonly sums = { assigned: ZERO_USD, ambiguous: ZERO_USD, unassigned: ZERO_USD };
  private readonly by = { response_id: 0, session: 0, window: 0, ambiguous: 0, unassigned: 0 };
  private readonly marks = { rows: 0, duplicates: 0, late: 0, unpriced: 0 };
  private estimated = ZERO_USD;

  constructor(conversations: readonly ReconcileConversation[]) {
    this.perConversation = new Map(
      conversations.map(({ conversationId, key }) => [
        conversationId,
        { conversationId, key, rows: 0, assigned: ZERO_USD, estimated: ZERO_USD },
      ]),
    );
  }

  /** @throws RangeError when a sum is no safe integer of nano-USD */
  add(verdict: RowVerdict, isUnpriced: boolean): void {
    this.sums[verdict.kind] = addUsd(this.sums[verdict.kind], verdict.cost);
    this.by[verdict.kind === 'assigned' ? verdict.by : verdict.kind] += 1;
    this.marks.rows += 1;
    if (verdict.isDuplicate) this.marks.duplicates += 1;
    if (verdict.kind === 'assigned' && verdict.isLate) this.marks.late += 1;
    if (isUnpriced) this.marks.unpriced += 1;
    for (const share of sharesOf(verdict)) this.addShare(share, verdict.kind === 'assigned');
  }

  private addShare(share: EstimatedShare, isAssigned: boolean): void {
    const total = this.perConversation.get(share.conversationId);
    if (total === undefined) return;
    total.rows += 1;
    if (isAssigned) {
      total.assigned = addUsd(total.assigned, share.cost);
    } else {
      total.estimated = addUsd(total.estimated, share.cost);
      this.estimated = addUsd(this.estimated, share.cost);
    }
  }

  totals(): Totals {
    const { sums, by, marks, estimated } = this;
    const conversations = [...this.perConversation.values()];
    return {
      conversations,
      total: nanoUsd(sums.assigned + sums.ambiguous + sums.unassigned),
      ...sums,
      estimated,
      counts: {
        ...marks,
        byResponseId: by.response_id,
        bySession: by.session,
        byWindow: by.window,
        ambiguous: by.ambiguous,
        unassigned: by.unassigned,
        conversationsWithoutRows: conversations.filter(({ rows }) => rows === 0).length,
      },
    };
  }
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
