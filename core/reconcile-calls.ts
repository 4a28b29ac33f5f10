/**
 * Our own side of reconciliation: the calls the proxy recorded, by response id and by conversation.
 * Owns the exact join and the estimate of clock skew; must not look at windows.
 *
 * There may be millions of calls: they are kept as columns of numbers, and a call is its position in them.
 */
import { normalUuid } from './ids.ts';
import type { ReconcileConversation } from './reconcile-result.ts';
import type { GatewayRow, SpendRow } from './spend.ts';

/** Unbilled calls named in the result; the rest are counted. */
export const UNBILLED_SHOWN_MAX = 1_000;

/** Owner of a call that no conversation given has made. */
const NOBODY = -1;

/** The call that a row bills. */
export interface BilledCall {
  /** By our clock. */
  readonly startedAt: number;
  /** Empty for a caller that is none of these conversations. */
  readonly owners: readonly number[];
  /** A row named it before. */
  readonly isBilledAgain: boolean;
}

/** A call that succeeded and that no row names. */
export interface UnbilledCall {
  readonly callId: string;
  readonly owner: number;
  readonly model: string;
}

export class CallIndex {
  private readonly byResponse = new Map<string, number>();
  private readonly startedAt: number[] = [];
  private readonly owner: number[] = [];
  private readonly isBilled: boolean[] = [];
  /** Of responses that several conversations claim: a gateway that repeats ids. All stay candidates. */
  private readonly shared = new Map<number, number[]>();

  private readonly byIdentity = new Map<string, number>();
  private readonly skews: number[] = [];
  /** By conversation, then by model name. */
  private readonly tokens = new Map<number, Map<string, number>>();
  private readonly users = new Map<number, string>();
  private readonly teams = new Map<number, string>();
  /** Calls of these conversations that a gateway ought to bill: their position, our id and the model, side by side. */
  private readonly billable: number[] = [];
  private readonly billableIds: string[] = [];
  private readonly billableModels: string[] = [];
  /** One text for each name of a model: rows that were parsed have one each. */
  private readonly models = new Map<string, string>();

  constructor(conversations: readonly ReconcileConversation[]) {
    for (const [owner, { conversationId, attemptIds }] of conversations.entries()) {
      for (const id of [...attemptIds, conversationId]) this.byIdentity.set(normalUuid(id), owner);
    }
  }

  add(row: SpendRow): void {
    const owner = this.ownerOf(row.sessionId);
    if (owner !== null) this.learn(owner, row);
    if (row.responseId === null) return;
    const call = this.callOf(row, owner ?? NOBODY);
    if (owner !== null && row.state === 'succeeded') {
      this.billable.push(call);
      this.billableIds.push(row.callId);
      this.billableModels.push(this.shareName(row.upstreamModel));
    }
  }

  private shareName(model: string): string {
    const known = this.models.get(model);
    if (known !== undefined) return known;
    this.models.set(model, model);
    return model;
  }

  private callOf({ responseId, startedAt }: SpendRow, owner: number): number {
    const known = this.byResponse.get(responseId ?? '');
    if (known === undefined) {
      const call = this.startedAt.push(startedAt) - 1;
      this.owner.push(owner);
      this.isBilled.push(false);
      this.byResponse.set(responseId ?? '', call);
      return call;
    }
    const first = this.owner[known] ?? NOBODY;
    if (owner === NOBODY || owner === first) return known;
    if (first === NOBODY) {
      this.owner[known] = owner;
      return known;
    }
    const owners = this.shared.get(known) ?? [first];
    if (!owners.includes(owner)) this.shared.set(known, [...owners, owner]);
    return known;
  }

  private learn(owner: number, row: SpendRow): void {
    const tokens = (row.promptTokens ?? 0) + (row.completionTokens ?? 0);
    const byModel = this.tokens.get(owner) ?? new Map<string, number>();
    this.tokens.set(owner, byModel);
    byModel.set(row.modelName, (byModel.get(row.modelName) ?? 0) + tokens);
    if (row.upstreamModel !== row.modelName) {
      byModel.set(row.upstreamModel, (byModel.get(row.upstreamModel) ?? 0) + tokens);
    }
    if (row.user !== null && !this.users.has(owner)) this.users.set(owner, row.user);
    if (row.team !== undefined && !this.teams.has(owner)) this.teams.set(owner, row.team);
  }

  /** The conversation that a session id or an attempt id names; null when it is none of those given. */
  ownerOf(id: string | null): number | null {
    if (id === null) return null;
    // Most ids come in their normal form: looked up as they are first, since there may be millions.
    return this.byIdentity.get(id) ?? this.byIdentity.get(normalUuid(id)) ?? null;
  }

  /** The call that a row bills, and the pair's part in the estimate of the skew; null when it is none of ours. */
  bill(row: GatewayRow): BilledCall | null {
    const call = row.responseId === null ? undefined : this.byResponse.get(row.responseId);
    if (call === undefined) return null;
    const isBilledAgain = this.isBilled[call] ?? false;
    this.isBilled[call] = true;
    const startedAt = this.startedAt[call] ?? 0;
    this.skews.push(row.startedAt - startedAt);
    const owner = this.owner[call] ?? NOBODY;
    const owners = owner === NOBODY ? [] : (this.shared.get(call) ?? [owner]);
    return { startedAt, owners, isBilledAgain };
  }

  /** Tokens that our proxy counted for a conversation under a model's name. */
  tokensOf(owner: number, model: string): number {
    return this.tokens.get(owner)?.get(model) ?? 0;
  }

  /** Who caused the calls of a conversation; null when our proxy was not told. */
  userOf(owner: number): string | null {
    return this.users.get(owner) ?? null;
  }

  teamOf(owner: number): string | null {
    return this.teams.get(owner) ?? null;
  }

  /** Median of (gateway − ours) over pairs joined by response id; the lower one of two. */
  medianSkewMs(): number | null {
    if (this.skews.length === 0) return null;
    const sorted = Float64Array.from(this.skews).sort();
    return sorted[(sorted.length - 1) >> 1] ?? null;
  }

  /** Calls of these conversations that succeeded, have an id to bill them by, and were not billed. */
  *unbilled(): Iterable<UnbilledCall> {
    for (const [place, call] of this.billable.entries()) {
      if (this.isBilled[call] === true) continue;
      const [callId, model] = [this.billableIds[place] ?? '', this.billableModels[place] ?? ''];
      yield { callId, owner: this.owner[call] ?? NOBODY, model };
    }
  }
}
