/**
 * Which headers are whose (D23).
 * Owns the name sets and the test for a value that can be sent; must not build a request.
 */

const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
/** Framing and target of the request that the proxy itself writes. */
const OWN = ['host', 'content-length', 'content-type', 'expect'];
const HOP_BY_HOP_OR_OWN: ReadonlySet<string> = new Set([...HOP_BY_HOP, ...OWN]);

/** Tab and the printable ASCII characters: anything else is refused rather than sent in a guessed encoding. */
const SENDABLE = /^[\t\x20-\x7e]*$/;

export function isSendableValue(value: string): boolean {
  return SENDABLE.test(value);
}

const BEYOND_ASCII = /[\x80-\xff]/;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A value as it was meant: Node reads each byte as a character, and most callers send UTF-8. */
export function headerText(value: string): string {
  if (!BEYOND_ASCII.test(value)) return value;
  try {
    return UTF8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

/** The header that carries the conversation id; reserved on every agent call (D23). */
export function sessionHeader(vendor: string): string {
  return `x-${vendor}-session-id`;
}

export function metadataHeader(vendor: string): string {
  return `x-${vendor}-spend-logs-metadata`;
}

/** Tags of one call, with commas between them. */
export function tagsHeader(vendor: string): string {
  return `x-${vendor}-tags`;
}

/** Where a key may stand besides `Authorization`. */
export function apiKeyHeader(vendor: string): string {
  return `x-${vendor}-api-key`;
}

/** Names that an entry's static headers cannot set. */
export function isReservedStaticHeader(name: string, vendor: string): boolean {
  return HOP_BY_HOP_OR_OWN.has(name) || name === sessionHeader(vendor);
}

/** Headers that carry a credential of ours or of a provider: never forwarded (D23). */
export function credentialHeaders(vendor: string): readonly string[] {
  return [
    'x-api-key',
    apiKeyHeader(vendor),
    'x-session-api-key',
    'x-access-token',
    'x-init-api-key',
    'x-goog-api-key',
  ];
}
