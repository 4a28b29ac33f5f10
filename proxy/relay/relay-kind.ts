/**
 * The kinds of relayed calls, and their differences.
 * Owns path, required member, words and form of a stream of each; must not read a body.
 */

/** Whose API format a route and its errors have. */
export type RouteWords = 'openai' | 'anthropic';

export interface RelayKind {
  /** As recorded in spend rows, for any alias that the caller used. */
  readonly route:
    | '/v1/chat/completions'
    | '/v1/responses'
    | '/v1/embeddings'
    | '/v1/messages'
    | '/v1/messages/count_tokens';
  /** Added to the base path of an entry. */
  readonly suffix: string;
  /** The member without which no gateway can answer; null when there is none. */
  readonly required: { readonly name: string; readonly isList: boolean } | null;
  /** A stream contains its usage only when `stream_options` requests it. */
  readonly asksUsage: boolean;
  /** Events of a stream that end it; null for chat, which ends with `[DONE]`. */
  readonly lastEvents: ReadonlySet<string> | null;
  readonly words: RouteWords;
  /** No model answers, so that nothing is billed and no spend row is kept. */
  readonly isFree: boolean;
}

export const CHAT: RelayKind = {
  route: '/v1/chat/completions',
  suffix: '/chat/completions',
  required: { name: 'messages', isList: true },
  asksUsage: true,
  lastEvents: null,
  words: 'openai',
  isFree: false,
};

export const RESPONSES: RelayKind = {
  route: '/v1/responses',
  suffix: '/responses',
  required: null,
  asksUsage: false,
  lastEvents: new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']),
  words: 'openai',
  isFree: false,
};

export const EMBEDDINGS: RelayKind = {
  route: '/v1/embeddings',
  suffix: '/embeddings',
  required: { name: 'input', isList: false },
  asksUsage: false,
  lastEvents: null,
  words: 'openai',
  isFree: false,
};

export const MESSAGES: RelayKind = {
  route: '/v1/messages',
  suffix: '/messages',
  required: { name: 'messages', isList: true },
  asksUsage: false,
  lastEvents: new Set(['message_stop', 'error']),
  words: 'anthropic',
  isFree: false,
};

export const COUNT_TOKENS: RelayKind = {
  ...MESSAGES,
  route: '/v1/messages/count_tokens',
  suffix: '/messages/count_tokens',
  isFree: true,
};
