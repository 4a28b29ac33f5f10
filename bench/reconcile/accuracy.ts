/**
 * How often reconciliation is right about bills whose truth is known.
 * Owns what is counted as right; must not make a bill.
 */
import { reconcile } from '../../core/reconcile/reconcile.ts';
import type { MadeBill } from './made-bill.ts';

export interface Accuracy {
  readonly rows: number;
  /** Rows that are called certain, and how many of them are another's. */
  readonly certain: number;
  readonly wrong: number;
  readonly ours: number;
  /** Rows with one candidate that are not called certain, and how many of them are its. */
  readonly probable: number;
  readonly probableRight: number;
  /** Certain by time, of `certain`. */
  readonly byTime: number;
  /** Nano-USD by which sums differ from those of the rows: of all, and of what is certain of each conversation. */
  readonly offBy: bigint;
}

/** As a job has it unless it says otherwise. */
const WINDOW = { windowBeforeMs: 30_000, windowAfterMs: 300_000 } as const;

export function measureAccuracy({ conversations, calls, rows, truth }: MadeBill): Accuracy {
  const result = reconcile({
    ...WINDOW,
    conversations,
    gatewayRows: rows,
    spendRows: calls,
    isForwarding: false,
    ambiguous: 'keep',
  });
  const counts = { certain: 0, wrong: 0, probable: 0, probableRight: 0 };
  const sums = new Map<string, bigint>();
  for (const [place, verdict] of result.verdicts.entries()) {
    const owner = truth[place] ?? null;
    if (verdict.kind === 'assigned') {
      counts.certain += 1;
      if (verdict.conversationId !== owner) counts.wrong += 1;
      sums.set(verdict.conversationId, (sums.get(verdict.conversationId) ?? 0n) + BigInt(verdict.cost));
    } else if (verdict.kind === 'ambiguous' && verdict.candidates.length === 1) {
      counts.probable += 1;
      if (verdict.candidates[0] === owner) counts.probableRight += 1;
    }
  }
  const { assigned, ambiguous, unassigned } = result;
  const total = rows.reduce((sum, { cost }) => sum + BigInt(cost), 0n);
  const offs = [
    total - BigInt(result.total),
    total - BigInt(assigned) - BigInt(ambiguous) - BigInt(unassigned),
    ...result.conversations.map((one) => BigInt(one.assigned) - (sums.get(one.conversationId) ?? 0n)),
  ];
  return {
    ...counts,
    rows: rows.length,
    ours: truth.filter((owner) => owner !== null).length,
    byTime: result.counts.byWindow,
    offBy: offs.reduce((sum, off) => sum + (off < 0n ? -off : off), 0n),
  };
}
