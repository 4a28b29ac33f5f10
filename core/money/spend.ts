/**
 * Spend rows as both sides see them: what our proxy recorded and what the gateway billed.
 * Owns the shapes; must not price, match or store.
 */
import type { NanoUsd } from './money.ts';

/**
 * How a proxied call ended (D26). `open` until closed; `interrupted` if the process died in between; `cut` when the
 * gateway's reply ended before it was whole, although the connection did not say so.
 */
export type SpendRowState = 'open' | 'succeeded' | 'failed' | 'cut' | 'aborted' | 'interrupted';

/** One call that our proxy sent upstream (D26). No prompt or completion text is ever part of it. */
export interface SpendRow {
  /** Our own id of the call, made before dispatch. */
  readonly callId: string;
  readonly state: SpendRowState;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  /** Route of the call, e.g. "/v1/chat/completions". */
  readonly route: string;
  /** The name the caller used. */
  readonly modelName: string;
  /** The name sent upstream. */
  readonly upstreamModel: string;
  readonly streamed: boolean;
  /** Upstream status; null when none was received. */
  readonly httpStatus: number | null;
  /** The gateway's own id of the response: the exact join key (D27). */
  readonly responseId: string | null;
  /** Conversation id, normalised; null when the caller is not an agent of ours. */
  readonly sessionId: string | null;
  /** The body field `user`: recorded, never forwarded (D23). */
  readonly user: string | null;
  /** Name (never the value) of the key that authorised the call. */
  readonly keyName: string;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly cachedTokens: number | null;
  /** null means unpriced, which is never 0 (D26). */
  readonly cost: NanoUsd | null;
  readonly costSource: 'entry' | 'gateway' | 'list' | 'unpriced';
  /** Parsed spend metadata header; `invalid` keeps that it could not be parsed. */
  readonly metadata: Readonly<Record<string, unknown>> | 'invalid' | null;
  /** Of the input, what the gateway wrote into its cache; absent when it says nothing of it. */
  readonly cacheWriteTokens?: number;
  /** Of the output, what the model only thought; absent when the gateway says nothing of it. */
  readonly reasoningTokens?: number;
  /**
   * What budgets count for the call while its cost is not known: what it holds until it ends, and then what it may have
   * cost (D30). Absent where no budget is enforced, and once the cost is known.
   */
  readonly held?: NanoUsd;
  /** Team that the key belongs to; absent when it belongs to none. */
  readonly team?: string;
  /** Tags of the key and of the call, each once; absent when there are none. */
  readonly tags?: readonly string[];
  /** The proxy that sent it, where several share the store; absent where one serves alone. */
  readonly proxyId?: string;
  /** The run whose budget it was held to, where several proxies share that. */
  readonly runId?: string;
}

/** What joining with a bill needs of a call (D27): there may be millions, and the rest of a row is as much again. */
export type JoinableCall = Pick<
  SpendRow,
  | 'callId'
  | 'state'
  | 'startedAt'
  | 'endedAt'
  | 'modelName'
  | 'upstreamModel'
  | 'httpStatus'
  | 'responseId'
  | 'sessionId'
  | 'user'
  | 'team'
  | 'promptTokens'
  | 'completionTokens'
>;

/** One row of a gateway's own export, normalised. */
export interface GatewayRow {
  readonly responseId: string | null;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly model: string;
  readonly sessionId: string | null;
  readonly tags: readonly string[];
  readonly keyName: string | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cost: NanoUsd;
  /** Attempt or session id that the caller's spend metadata carried, when forwarding was on. */
  readonly metadataSessionId: string | null;
  /** Who used it and for which team, as far as the gateway says. */
  readonly user?: string | null;
  readonly team?: string | null;
  /** True when the export gives no price; `cost` is 0 then and means nothing. */
  readonly isUnpriced?: boolean;
  /** Where it stands in the export, counted from 1, so that a report can point at it. */
  readonly position: number;
}
