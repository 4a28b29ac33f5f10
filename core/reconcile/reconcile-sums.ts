/**
 * The running totals of a reconciliation, verdict by verdict.
 * Owns the sums and counts; must not keep a row or a verdict.
 */
import type {
  ConversationTotal,
  EstimatedShare,
  ReconcileConversation,
  ReconcileCounts,
  RowVerdict,
} from './reconcile-result.ts';
import { addSums, ExactSum, type UsdSum } from '../money/usd-sum.ts';

export interface Totals {
  readonly conversations: readonly ConversationTotal[];
  readonly total: UsdSum;
  readonly assigned: UsdSum;
  readonly ambiguous: UsdSum;
  readonly unassigned: UsdSum;
  readonly estimated: UsdSum;
  readonly counts: Omit<ReconcileCounts, 'unbilled'>;
}

/** Of one conversation, while rows come. */
interface Counting extends Pick<ConversationTotal, 'conversationId' | 'key'> {
  rows: number;
  readonly assigned: ExactSum;
  readonly estimated: ExactSum;
}

export class RunningTotals {
  private readonly perConversation: ReadonlyMap<string, Counting>;
  /** The same by their position: finding an id takes longer than all else that is done for a row. */
  private readonly byOwner: readonly (Counting | undefined)[];
  private readonly sums = {
    assigned: new ExactSum(),
    ambiguous: new ExactSum(),
    unassigned: new ExactSum(),
  };
  private readonly by = { response_id: 0, session: 0, window: 0, ambiguous: 0, unassigned: 0 };
  private readonly marks = { rows: 0, duplicates: 0, late: 0, unpriced: 0, foreign: 0 };
  private readonly estimated = new ExactSum();

  constructor(conversations: readonly ReconcileConversation[]) {
    this.perConversation = new Map(
      conversations.map(({ conversationId, key }) => [
        conversationId,
        { conversationId, key, rows: 0, assigned: new ExactSum(), estimated: new ExactSum() },
      ]),
    );
    this.byOwner = conversations.map(({ conversationId }) => this.perConversation.get(conversationId));
  }

  /** `owner` is the position of the conversation that the row is assigned to; null when it is not. */
  add(verdict: RowVerdict, owner: number | null, isUnpriced: boolean): void {
    this.sums[verdict.kind].add(verdict.cost);
    this.by[verdict.kind === 'assigned' ? verdict.by : verdict.kind] += 1;
    this.marks.rows += 1;
    if (verdict.isDuplicate) this.marks.duplicates += 1;
    if (verdict.kind === 'assigned' && verdict.isLate) this.marks.late += 1;
    if (verdict.kind === 'unassigned' && verdict.why === 'foreign') this.marks.foreign += 1;
    if (isUnpriced) this.marks.unpriced += 1;
    const own = owner === null ? undefined : this.byOwner[owner];
    if (own !== undefined) {
      own.rows += 1;
      own.assigned.add(verdict.cost);
    }
    if (verdict.kind === 'ambiguous') for (const share of verdict.estimated) this.addShare(share);
  }

  private addShare({ conversationId, cost }: EstimatedShare): void {
    const total = this.perConversation.get(conversationId);
    if (total === undefined) return;
    total.rows += 1;
    total.estimated.add(cost);
    this.estimated.add(cost);
  }

  totals(): Totals {
    const { by, marks, estimated } = this;
    const [assigned, ambiguous, unassigned] = [
      this.sums.assigned.written(),
      this.sums.ambiguous.written(),
      this.sums.unassigned.written(),
    ];
    const conversations = [...this.perConversation.values()].map((one) => ({
      ...one,
      assigned: one.assigned.written(),
      estimated: one.estimated.written(),
    }));
    return {
      conversations,
      total: addSums(assigned, ambiguous, unassigned),
      assigned,
      ambiguous,
      unassigned,
      estimated: estimated.written(),
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
