/**
 * Our own side of reconciliation: the calls the proxy recorded, by response id and by conversation.
 * Owns which of them are billed already; must not look at windows or decide what becomes of a row.
 *
 * There may be millions of calls: they are kept as columns of numbers, and a call is its position in them.
 */
import { normalUuid } from './ids.ts';
import type { ReconcileConversation } from './reconcile-result.ts';
import type { GatewayRow, SpendRow } from './spend.ts';

/** Unbilled calls named in the result; the rest are counted. */
export const UNBILLED_SHOWN_MAX = 1_000;

/** Owner of a call that no conversation given has made. */
export const NOBODY = -1;
/** Tokens that nobody told. */
const UNKNOWN = -1;

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

export class CallTable {
  private readonly begins: number[] = [];
  private readonly ends: number[] = [];
  private readonly owners: number[] = [];
  private readonly kinds: number[] = [];
  private readonly billed: boolean[] = [];
  private readonly prompts: number[] = [];
  private readonly completions: number[] = [];
  private readonly names: number[] = [];
  private readonly upstreams: number[] = [];
  private readonly ids: string[] = [];
  private readonly responses: (string | null)[] = [];

  private readonly byResponse = new Map<string, number>();
  /** Calls of responses that came more than once. */
  private readonly repeated = new Map<string, number[]>();
  private readonly byIdentity = new Map<string, number>();
  private readonly otherSessions = new Set<string>();
  private readonly users = new Map<number, string>();
  private readonly teams = new Map<number, string>();
  /** By conversation, then by model name. */
  private readonly tokens = new Map<number, Map<string, number>>();
  private readonly lastEnds = new Map<number, number>();
  /** One text for each name of a model: rows that were parsed have one each. */
  private readonly models: string[] = [];
  private readonly modelPlaces = new Map<string, number>();

  constructor(conversations: readonly ReconcileConversation[]) {
    for (const [owner, { conversationId, attemptIds }] of conversations.entries()) {
      for (const id of [...attemptIds, conversationId]) this.byIdentity.set(normalUuid(id), owner);
    }
  }

  get length(): number {
    return this.begins.length;
  }

  /** False: our proxy never learns an id from this gateway, and an id in a row says nothing. */
  get hasResponseIds(): boolean {
    return this.byResponse.size > 0;
  }

  add(row: SpendRow): void {
    const owner = this.ownerOf(row.sessionId) ?? NOBODY;
    if (owner !== NOBODY) this.learn(owner, row);
    else if (row.sessionId !== null) this.otherSessions.add(normalUuid(row.sessionId));
    const call = this.begins.push(row.startedAt) - 1;
    this.ends.push(endOf(row));
    this.owners.push(owner);
    this.kinds.push(kindOf(row));
    this.billed.push(false);
    const isWhole = row.state === 'succeeded' && row.promptTokens !== null && row.completionTokens !== null;
    this.prompts.push(isWhole ? (row.promptTokens ?? UNKNOWN) : UNKNOWN);
    this.completions.push(isWhole ? (row.completionTokens ?? UNKNOWN) : UNKNOWN);
    this.names.push(this.modelPlace(row.modelName));
    this.upstreams.push(this.modelPlace(row.upstreamModel));
    this.ids.push(row.callId);
    this.responses.push(row.responseId);
    if (row.responseId !== null) this.addResponse(row.responseId, call);
  }

  private addResponse(id: string, call: number): void {
    const first = this.byResponse.get(id);
    if (first === undefined) {
      this.byResponse.set(id, call);
      return;
    }
    const known = this.repeated.get(id);
    if (known === undefined) this.repeated.set(id, [first, call]);
    else known.push(call);
  }

  private modelPlace(name: string): number {
    const known = this.modelPlaces.get(name);
    if (known !== undefined) return known;
    const place = this.models.push(name) - 1;
    this.modelPlaces.set(name, place);
    return place;
  }

  private learn(owner: number, row: SpendRow): void {
    const tokens = (row.promptTokens ?? 0) + (row.completionTokens ?? 0);
    const byModel = this.tokens.get(owner) ?? new Map<string, number>();
    this.tokens.set(owner, byModel);
    for (const name of new Set([row.modelName, row.upstreamModel])) {
      byModel.set(name, (byModel.get(name) ?? 0) + tokens);
    }
    if (row.user !== null && !this.users.has(owner)) this.users.set(owner, row.user);
    if (row.team !== undefined && !this.teams.has(owner)) this.teams.set(owner, row.team);
    this.lastEnds.set(owner, Math.max(endOf(row), this.lastEnds.get(owner) ?? -Infinity));
  }

  /** The conversation that a session id or an attempt id names; null when it is none of those given. */
  ownerOf(id: string | null): number | null {
    if (id === null) return null;
    // Most ids come in their normal form: looked up as they are first, since there may be millions.
    return this.byIdentity.get(id) ?? this.byIdentity.get(normalUuid(id)) ?? null;
  }

  /** Our proxy sent calls of this session, which is none of the conversations given. */
  isOtherCaller(id: string | null): boolean {
    return id !== null && (this.otherSessions.has(id) || this.otherSessions.has(normalUuid(id)));
  }

  /** Null when no call of ours has the row's response id. Closes nothing. */
  exactCall({ responseId }: GatewayRow): ExactCall | null {
    if (responseId === null) return null;
    const first = this.byResponse.get(responseId);
    if (first === undefined) return null;
    const all = this.repeated.get(responseId);
    if (all === undefined)
      return { owners: [this.ownerAt(first)], call: first, isBilledAgain: this.isBilled(first) };
    const open = all.find((call) => !this.isBilled(call));
    const owners = [...new Set(all.map((call) => this.ownerAt(call)))].sort((a, b) => a - b);
    return { owners, call: open ?? first, isBilledAgain: open === undefined };
  }

  close(call: number): void {
    this.billed[call] = true;
  }

  isBilled(call: number): boolean {
    return this.billed[call] === true;
  }

  isRefused(call: number): boolean {
    return this.kinds[call] === REFUSED;
  }

  ownerAt(call: number): number {
    return this.owners[call] ?? NOBODY;
  }

  /** By our clock. */
  startOf(call: number): number {
    return this.begins[call] ?? 0;
  }

  endAt(call: number): number {
    return this.ends[call] ?? 0;
  }

  responseOf(call: number): string | null {
    return this.responses[call] ?? null;
  }

  /** The name the caller used and the one that was sent upstream; once when they are the same. */
  modelsOf(call: number): readonly string[] {
    const [name, upstream] = [this.names[call] ?? 0, this.upstreams[call] ?? 0];
    const names = name === upstream ? [name] : [name, upstream];
    return names.map((place) => this.models[place] ?? '');
  }

  /** Prompt and completion; null where the call does not say both, such as one that was cut. */
  tokensAt(call: number): readonly [number, number] | null {
    const [prompt, completion] = [this.prompts[call] ?? UNKNOWN, this.completions[call] ?? UNKNOWN];
    return prompt === UNKNOWN || prompt + completion === 0 ? null : [prompt, completion];
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

  /** The end of a conversation's last call; an attempt that was given up has ended by then. */
  lastEndOf(owner: number): number {
    return this.lastEnds.get(owner) ?? -Infinity;
  }

  /** Calls that a gateway may have billed and that no row names yet, in the order they were added. */
  *open(): Iterable<number> {
    for (let call = 0; call < this.length; call += 1) {
      if (this.billed[call] !== true && this.kinds[call] !== REFUSED) yield call;
    }
  }

  /** Calls that a row bills, in the order they were added. */
  *closed(): Iterable<number> {
    for (let call = 0; call < this.length; call += 1) if (this.billed[call] === true) yield call;
  }

  /** Calls of these conversations that succeeded and were not billed. */
  *unbilled(): Iterable<{
    readonly callId: string;
    readonly owner: number;
    readonly model: string;
  }> {
    for (let call = 0; call < this.length; call += 1) {
      if (this.billed[call] === true || this.kinds[call] !== SUCCEEDED) continue;
      const owner = this.ownerAt(call);
      if (owner === NOBODY) continue;
      yield { callId: this.ids[call] ?? '', owner, model: this.models[this.upstreams[call] ?? 0] ?? '' };
    }
  }
}

/** What a gateway refused it does not bill. */
function kindOf({ state, httpStatus }: SpendRow): number {
  if (state === 'succeeded') return SUCCEEDED;
  return state === 'failed' && httpStatus !== null && httpStatus >= 400 ? REFUSED : BILLABLE;
}

/** The end of an interrupted call is when somebody noticed, which may be days later. */
function endOf({ state, startedAt, endedAt }: SpendRow): number {
  return endedAt === null || state === 'interrupted' || state === 'open' ? startedAt : endedAt;
}
