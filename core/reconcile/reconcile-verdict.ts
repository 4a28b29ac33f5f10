/**
 * The verdict on a row once it is known which conversations could have caused it.
 * Owns the shape of verdicts, lateness and the split by tokens; must not search for candidates.
 */
import { ZERO_USD, nanoUsd, type NanoUsd } from '../money/money.ts';
import type { CallTable } from './reconcile-calls.ts';
import type {
  AmbiguousWhy,
  EstimatedShare,
  JudgedRow,
  ReconcileConversation,
  ReconcileRules,
  RowVerdict,
  UnassignedWhy,
} from './reconcile-result.ts';

/** Candidates listed for one row: more would not help, and would make a busy hour quadratic. */
export const CANDIDATES_MAX = 64;

const NO_SHARES: readonly EstimatedShare[] = [];

/** What is known of a row when it is judged. */
export interface Found {
  readonly index: number;
  /** Conversations that could have caused it. */
  readonly owners: readonly number[];
  readonly by: 'response_id' | 'session' | 'window';
  readonly isDuplicate: boolean;
  /** When it began, by our clock. */
  readonly startedAt: number;
  /** Why it is not certain although a conversation could have caused it; null when one conversation has. */
  readonly doubt: AmbiguousWhy | null;
  /** Of a row that none of these conversations has caused. */
  readonly why: UnassignedWhy;
}

export class Judge {
  private readonly rules: ReconcileRules;
  private readonly calls: CallTable;

  constructor(rules: ReconcileRules, calls: CallTable) {
    this.rules = rules;
    this.calls = calls;
  }

  knownName(model: string): string {
    return this.rules.modelAliases?.[model] ?? model;
  }

  verdictOn(row: JudgedRow, { owners, by, isDuplicate, startedAt, doubt, why }: Found): RowVerdict {
    const { position, cost } = row;
    const only = owners[0];
    // Written out field by field: there may be millions of verdicts, and copies of copies keep the collector busy.
    if (only === undefined) return { kind: 'unassigned', position, cost, isDuplicate, why };
    if (doubt !== null) {
      const { candidates, isTruncated, estimated } = this.share(row, owners, doubt);
      return {
        kind: 'ambiguous',
        why: doubt,
        position,
        cost,
        isDuplicate,
        candidates,
        isTruncated,
        estimated,
      };
    }
    const conversation = this.conversationAt(only);
    const { conversationId, endedAt = this.calls.lastEndOf(only) } = conversation;
    const isLate = startedAt > (endedAt ?? Infinity);
    return { kind: 'assigned', position, cost, isDuplicate, by, conversationId, isLate };
  }

  /** What may be another caller's is not split: an estimate would present it as caused by these conversations. */
  private share(row: JudgedRow, owners: readonly number[], doubt: AmbiguousWhy) {
    const isTruncated = owners.length > CANDIDATES_MAX;
    const listed = owners.slice(0, CANDIDATES_MAX);
    const candidates = listed.map((owner) => this.conversationAt(owner).conversationId);
    const hasOwner = doubt === 'several' || doubt === 'clock_unknown';
    if (isTruncated || !hasOwner || this.rules.ambiguous === 'keep')
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

/**
 * Parts in the order of the weights; equal parts when every weight is 0. Left-over nano-USD go to the largest
 * remainders, ties to the earlier weight. Weights are integers of 0 or more.
 * @throws RangeError when there are no weights.
 */
export function splitExactly(amount: NanoUsd, weights: readonly number[]): readonly NanoUsd[] {
  if (weights.length === 0) throw new RangeError('Cannot split the amount: there is nobody to give it to');
  const sum = weights.reduce((total, weight) => total + BigInt(weight), 0n);
  const shares = sum === 0n ? weights.map(() => 1n) : weights.map(BigInt);
  const whole = sum === 0n ? BigInt(weights.length) : sum;
  const magnitude = BigInt(Math.abs(amount));
  const exact = shares.map((share, index) => {
    const product = magnitude * share;
    return { index, floor: product / whole, remainder: product % whole };
  });
  const given = exact.reduce((total, { floor }) => total + floor, 0n);
  const order = [...exact].sort((a, b) => compare(b.remainder, a.remainder) || a.index - b.index);
  const extra = new Set(order.slice(0, Number(magnitude - given)).map(({ index }) => index));
  const sign = amount < 0 ? -1 : 1;
  return exact.map(({ index, floor }) => {
    const part = Number(floor) + (extra.has(index) ? 1 : 0);
    return nanoUsd(part === 0 ? 0 : sign * part);
  });
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
