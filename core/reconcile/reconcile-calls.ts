/**
 * Our own side of reconciliation: the calls the proxy recorded, by response id and by conversation.
 * Owns which of them are billed already; must not use windows or decide what becomes of a row.
 *
 * There may be millions of calls: they are kept as columns of numbers, and a call is its position in them.
 */
import { float64Column, int32Column, TextColumn, TextIndex, uint8Column } from '../columns.ts';
import { normalUuid } from '../ids.ts';
import type { ReconcileConversation } from './reconcile-result.ts';
import type { GatewayRow, JoinableCall } from '../money/spend.ts';

/** Unbilled calls named in the result; the rest are counted. */
export const UNBILLED_SHOWN_MAX = 1_000;

/** Owner of a call that no conversation given has made. */
export const NOBODY = -1;
/** Tokens that were not reported. */
const UNKNOWN = -1;
/** A call without a response id. */
const NONE = -1;

/** What kind of call: a gateway bills what it did not refuse, and ought to bill what succeeded. */
const REFUSED = 0;
const BILLABLE = 1;
const SUCCEEDED = 2;

/** The call that a row bills. */
export interface ExactCall {
  /** Every conversation that claims the response, NOBODY for another caller; a gateway that repeats ids has several. */
  readonly owners: readonly number[];
  /** Position of the call; of a response that is billed again, of its first. */
  readonly call: number;
  /** Rows named all calls of this response before. */
  readonly isBilledAgain: boolean;
}

/** What its calls show of a conversation. */
interface Caller {
  user: string | null;
  team: string | null;
  /** By the place of a model's name. */
  readonly tokens: Map<number, number>;
  lastEnd: number;
}

export class CallTable {
  private readonly begins = float64Column();
  private readonly ends = float64Column();
  private readonly owners = int32Column();
  private readonly kinds = uint8Column();
  private readonly billed = uint8Column();
  private readonly prompts = float64Column();
  private readonly completions = float64Column();
  private readonly names = int32Column();
  private readonly upstreams = int32Column();
  private readonly ids = new TextColumn();
  /** Positions in `responseIds`; NONE without one. */
  private readonly responses = int32Column();

  private responseIds = new TextIndex();
  /** The first call of each response id. */
  private firsts = int32Column();
  /** Calls of responses that came more than once. */
  private readonly repeated = new Map<number, number[]>();
  private readonly byIdentity = new Map<string, number>();
  private readonly otherSessions = new Set<string>();
  /** By conversation. */
  private readonly callers: readonly Caller[];
  /** One text for each name of a model: rows that were parsed have one each. */
  private readonly models: string[] = [];
  private readonly modelPlaces = new Map<string, number>();

  private readonly billReadAt: number;

  /** What ended after `billReadAt` need not be on the bill. */
  constructor(conversations: readonly ReconcileConversation[], billReadAt = Infinity) {
    this.billReadAt = billReadAt;
    this.callers = conversations.map(() => ({
      user: null,
      team: null,
      tokens: new Map(),
      lastEnd: -Infinity,
    }));
    for (const [owner, { conversationId, attemptIds }] of conversations.entries()) {
      for (const id of [...attemptIds, conversationId]) this.byIdentity.set(normalUuid(id), owner);
    }
  }

  get length(): number {
    return this.begins.length;
  }

  /** False: our proxy never learns an id from this gateway, and an id in a row says nothing. */
  get hasResponseIds(): boolean {
    return this.responseIds.length > 0;
  }

  /** Response ids are not needed any more: the index is half of the memory of all calls. */
  forgetResponses(): void {
    [this.responseIds, this.firsts] = [new TextIndex(), int32Column()];
  }

  add(row: JoinableCall): void {
    const owner = this.ownerOf(row.sessionId) ?? NOBODY;
    const last = this.length - 1;
    const name = this.modelPlace(row.modelName, this.names.at(last));
    const upstream = this.modelPlace(row.upstreamModel, this.upstreams.at(last));
    if (owner !== NOBODY) this.learn(owner, row, name === upstream ? [name] : [name, upstream]);
    else if (row.sessionId !== null) this.otherSessions.add(normalUuid(row.sessionId));
    const call = this.begins.push(row.startedAt);
    this.ends.push(endOf(row));
    this.owners.push(owner);
    this.kinds.push(kindOf(row, this.billReadAt));
    this.billed.push(0);
    const isWhole = row.state === 'succeeded' && row.promptTokens !== null && row.completionTokens !== null;
    this.prompts.push(isWhole ? (row.promptTokens ?? UNKNOWN) : UNKNOWN);
    this.completions.push(isWhole ? (row.completionTokens ?? UNKNOWN) : UNKNOWN);
    this.names.push(name);
    this.upstreams.push(upstream);
    this.ids.push(row.callId);
    this.responses.push(row.responseId === null ? NONE : this.addResponse(row.responseId, call));
  }

  private addResponse(id: string, call: number): number {
    const place = this.responseIds.add(id);
    if (place === this.firsts.length) {
      this.firsts.push(call);
      return place;
    }
    const known = this.repeated.get(place);
    if (known === undefined) this.repeated.set(place, [this.firsts.at(place), call]);
    else known.push(call);
    return place;
  }

  /** `likely` is that of the call before: most texts are compared with it and never searched for. */
  private modelPlace(name: string, likely: number): number {
    if (this.models[likely] === name) return likely;
    const known = this.modelPlaces.get(name);
    if (known !== undefined) return known;
    const place = this.models.push(name) - 1;
    this.modelPlaces.set(name, place);
    return place;
  }

  private learn(owner: number, row: JoinableCall, models: readonly number[]): void {
    const caller = this.callers[owner];
    if (caller === undefined) return;
    const tokens = (row.promptTokens ?? 0) + (row.completionTokens ?? 0);
    for (const model of models) caller.tokens.set(model, (caller.tokens.get(model) ?? 0) + tokens);
    caller.user ??= row.user;
    caller.team ??= row.team ?? null;
    caller.lastEnd = Math.max(endOf(row), caller.lastEnd);
  }

  /** The conversation that a session id or an attempt id names; null when it is none of those given. */
  ownerOf(id: string | null): number | null {
    if (id === null) return null;
    // Most ids come in their normal form: these are tried first, since there may be millions.
    return this.byIdentity.get(id) ?? this.byIdentity.get(normalUuid(id)) ?? null;
  }

  /** Our proxy sent calls of this session, which is none of the conversations given. */
  isOtherCaller(id: string | null): boolean {
    return id !== null && (this.otherSessions.has(id) || this.otherSessions.has(normalUuid(id)));
  }

  /** Null when no call of ours has the row's response id. Closes nothing. */
  exactCall({ responseId }: GatewayRow): ExactCall | null {
    if (responseId === null) return null;
    const place = this.responseIds.find(responseId);
    if (place < 0) return null;
    const first = this.firsts.at(place);
    // Most gateways never repeat an id.
    const all = this.repeated.size === 0 ? undefined : this.repeated.get(place);
    if (all === undefined)
      return { owners: [this.ownerAt(first)], call: first, isBilledAgain: this.isBilled(first) };
    const open = all.find((call) => !this.isBilled(call));
    const owners = [...new Set(all.map((call) => this.ownerAt(call)))].sort((a, b) => a - b);
    return { owners, call: open ?? first, isBilledAgain: open === undefined };
  }

  close(call: number): void {
    this.billed.set(call, 1);
  }

  isBilled(call: number): boolean {
    return this.billed.at(call) === 1;
  }

  isRefused(call: number): boolean {
    return this.kinds.at(call) === REFUSED;
  }

  ownerAt(call: number): number {
    return this.owners.at(call);
  }

  /** By our clock. */
  startOf(call: number): number {
    return this.begins.at(call);
  }

  endAt(call: number): number {
    return this.ends.at(call);
  }

  hasResponse(call: number): boolean {
    return this.responses.at(call) !== NONE;
  }

  /** The name the caller used and the one that was sent upstream, as places; the same when they are the same. */
  modelsAt(call: number): readonly [number, number] {
    return [this.names.at(call), this.upstreams.at(call)];
  }

  /** The place of a model's name; null when no call has it. */
  placeOfModel(name: string): number | null {
    return this.modelPlaces.get(name) ?? null;
  }

  /** Prompt and completion; null where the call does not have both, such as one that was cut. */
  tokensAt(call: number): readonly [number, number] | null {
    const [prompt, completion] = [this.prompts.at(call), this.completions.at(call)];
    return prompt === UNKNOWN || prompt + completion === 0 ? null : [prompt, completion];
  }

  /** Tokens that our proxy counted for a conversation under a model's name. */
  tokensOf(owner: number, model: string): number {
    return this.callers[owner]?.tokens.get(this.modelPlaces.get(model) ?? NONE) ?? 0;
  }

  /** The user that caused the calls of a conversation; null when our proxy did not receive it. */
  userOf(owner: number): string | null {
    return this.callers[owner]?.user ?? null;
  }

  teamOf(owner: number): string | null {
    return this.callers[owner]?.team ?? null;
  }

  /** The end of a conversation's last call; an attempt that was given up has ended by then. */
  lastEndOf(owner: number): number {
    return this.callers[owner]?.lastEnd ?? -Infinity;
  }

  /** Calls that a gateway may have billed and that no row names yet, in the order they were added. */
  *open(): Iterable<number> {
    for (let call = 0; call < this.length; call += 1) {
      if (!this.isBilled(call) && !this.isRefused(call)) yield call;
    }
  }

  /** Calls that a row bills, in the order they were added. */
  *closed(): Iterable<number> {
    for (let call = 0; call < this.length; call += 1) if (this.isBilled(call)) yield call;
  }

  /** Calls of these conversations that succeeded and were not billed. */
  *unbilled(): Iterable<{
    readonly callId: string;
    readonly owner: number;
    readonly model: string;
  }> {
    for (let call = 0; call < this.length; call += 1) {
      if (this.isBilled(call) || this.kinds.at(call) !== SUCCEEDED) continue;
      const owner = this.ownerAt(call);
      if (owner === NOBODY) continue;
      yield { callId: this.ids.at(call), owner, model: this.models[this.upstreams.at(call)] ?? '' };
    }
  }
}

/** A gateway does not bill what it refused. */
function kindOf({ state, httpStatus, endedAt }: JoinableCall, billReadAt: number): number {
  if (state === 'succeeded') return (endedAt ?? 0) > billReadAt ? BILLABLE : SUCCEEDED;
  return state === 'failed' && httpStatus !== null && httpStatus >= 400 ? REFUSED : BILLABLE;
}

/** An interrupted call ends, by its record, when the interruption was detected, which may be days later. */
function endOf({ state, startedAt, endedAt }: JoinableCall): number {
  return endedAt === null || state === 'interrupted' || state === 'open' ? startedAt : endedAt;
}
