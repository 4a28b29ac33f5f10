/**
 * The three calls that are relayed, and in what they differ.
 * Owns path, required member and form of a stream of each; must not read a body.
 */

export interface RelayKind {
  /** As it stands in spend rows, whichever alias the caller used. */
  readonly route: '/v1/chat/completions' | '/v1/responses' | '/v1/embeddings';
  /** Added to the base path of an entry. */
  readonly suffix: string;
  /** The member without which no gateway can answer; null when there is none. */
  readonly required: { readonly name: string; readonly isList: boolean } | null;
  /** A stream tells its usage only when `stream_options` asks for it. */
  readonly asksUsage: boolean;
  /** Events of a stream that end it; null for chat, which ends with `[DONE]`. */
  readonly lastEvents: ReadonlySet<string> | null;
}

export const CHAT: RelayKind = {
  route: '/v1/chat/completions',
  suffix: '/chat/completions',
  required: { name: 'messages', isList: true },
  asksUsage: true,
  lastEvents: null,
};

export const RESPONSES: RelayKind = {
  route: '/v1/responses',
  suffix: '/responses',
  required: null,
  asksUsage: false,
  lastEvents: new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']),
};

export const EMBEDDINGS: RelayKind = {
  route: '/v1/embeddings',
  suffix: '/embeddings',
  required: { name: 'input', isList: false },
  asksUsage: false,
  lastEvents: null,
};
