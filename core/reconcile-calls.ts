/**
 * Our own side of reconciliation: the calls the proxy recorded, by response id and by conversation.
 * Owns the exact join and the estimate of clock skew; must not look at windows.
 */
import { normalUuid } from './ids.ts';
import type { ReconcileConversation } from './reconcile-result.ts';
import type { GatewayRow, SpendRow } from './spend.ts';

/** Unbilled calls named in the result; the rest are counted. */
export const UNBILLED_SHOWN_MAX = 1_000;

/** Whose call a response id was. `owners` is empty for a caller that is none of these conversations. */
export interface KnownCall {
  readonly startedAt: number;
  readonly owners: readonly number[];
  isBilled: boolean;
}

export class CallIndex {
  private readonly byResponse = new Map<string, KnownCall>();
  private readonly byIdentity = new Map<string, number>();
  private readonly skews: number[] = [];
  /** By conversation, then by model name. */
  private readonly tokens = new Map<number, Map<string, number>>();
  private readonly spendRows: readonly SpendRow[];

  constructor(conversations: readonly ReconcileConversation[], spendRows: readonly SpendRow[]) {
    this.spendRows = spendRows;
    for (const [owner, { conversationId, attemptIds }] of conversations.entries()) {
      for (const id of [...attemptIds, conversationId]) this.byIdentity.set(normalUuid(id), owner);
    }
    for (const row of spendRows) this.add(row);
  }

  private add(row: SpendRow): void {
    const owner = this.ownerOf(row.sessionId);
    if (owner !== null) this.countTokens(owner, row);
    if (row.responseId === null) return;
    const known = this.byResponse.get(row.responseId);
    const owners = owner === null ? [] : [owner];
    if (known === undefined) {
      this.byResponse.set(row.responseId, { startedAt: row.startedAt, owners, isBilled: false });
    } else if (owner !== null && !known.owners.includes(owner)) {
      // One id for two conversations: a gateway that repeats ids; both stay candidates.
      this.byResponse.set(row.responseId, { ...known, owners: [...known.owners, owner] });
    }
  }

  private countTokens(owner: number, row: SpendRow): void {
    const tokens = (row.promptTokens ?? 0) + (row.completionTokens ?? 0);
    const byModel = this.tokens.get(owner) ?? new Map<string, number>();
    this.tokens.set(owner, byModel);
    byModel.set(row.modelName, (byModel.get(row.modelName) ?? 0) + tokens);
    if (row.upstreamModel === row.modelName) return;
    byModel.set(row.upstreamModel, (byModel.get(row.upstreamModel) ?? 0) + tokens);
  }

  /** The conversation that a session id or an attempt id names; null when it is none of those given. */
  ownerOf(id: string | null): number | null {
    if (id === null) return null;
    // Most ids come in their normal form: looked up as they are first, since there may be millions.
    return this.byIdentity.get(id) ?? this.byIdentity.get(normalUuid(id)) ?? null;
  }

  /** The call that a row bills, and the pair's part in the estimate of the skew. */
  bill(row: GatewayRow): KnownCall | null {
    const call = row.responseId === null ? undefined : this.byResponse.get(row.responseId);
    if (call === undefined) return null;
    call.isBilled = true;
    this.skews.push(row.startedAt - call.startedAt);
    return call;
  }

  /** Tokens that our proxy counted for a conversation under a model's name. */
  tokensOf(owner: number, model: string): number {
    return this.tokens.get(owner)?.get(model) ?? 0;
  }

  /** Median of (gateway − ours) over pairs joined by response id; the lower one of two. */
  medianSkewMs(): number | null {
    if (this.skews.length === 0) return null;
    const sorted = Float64Array.from(this.skews).sort();
    return sorted[(sorted.length - 1) >> 1] ?? null;
  }

  /** Calls of these conversations that succeeded, have an id to bill them by, and were not billed. */
  unbilled(): { readonly count: number; readonly callIds: readonly string[] } {
    const callIds: string[] = [];
    let count = 0;
    for (const { callId, state, responseId, sessionId } of this.spendRows) {
      if (state !== 'succeeded' || responseId === null || this.ownerOf(sessionId) === null) continue;
      if (this.byResponse.get(responseId)?.isBilled === true) continue;
      count += 1;
      if (callIds.length < UNBILLED_SHOWN_MAX) callIds.push(callId);
    }
    return { count, callIds };
  }
}
