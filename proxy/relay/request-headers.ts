/**
 * The header lines of one upstream request (D23).
 * Owns the rule as one pure function; must not read a clock, a socket or a configuration file.
 */
import { ACCEPT_CODING } from '../../clients/gateway/content-coding.ts';
import type { ModelEntry, ProxyConfig } from '../config/config.ts';
import {
  credentialHeaders,
  isSendableValue,
  metadataHeader,
  sessionHeader,
  tagsHeader,
} from './header-names.ts';
import type { RouteWords } from './relay-kind.ts';

/** The part of the rule that is the same for every call, computed once. */
export interface HeaderRule {
  readonly forward: boolean;
  readonly sessionHeader: string;
  readonly metadataHeader: string;
  readonly tagsHeader: string;
  /** Exact names that stay here. */
  readonly keptBack: ReadonlySet<string>;
  /** Prefixes that stay here. */
  readonly keptBackPrefixes: readonly string[];
}

export interface HeaderInput {
  /** Name and value alternating, as they came. */
  readonly rawHeaders: readonly string[];
  /** The conversation the caller's key is bound to; null when it is bound to none. */
  readonly sessionId: string | null;
  readonly entry: Pick<ModelEntry, 'apiKey' | 'extraHeaders'>;
  readonly contentLength: number;
  readonly words: RouteWords;
}

export type HeaderOutcome =
  | { readonly ok: true; readonly headers: readonly string[] }
  /** `name` is the header whose value cannot be sent. */
  | { readonly ok: false; readonly name: string };

const FORWARDED_PREFIXES = ['x-', 'anthropic-'];
/** They say how the body of a call of messages is to be read, and belong to it as its type does. */
const VERSION = 'anthropic-version';
const PROTOCOL: ReadonlySet<string> = new Set([VERSION, 'anthropic-beta']);
/** For a caller that names none, as its SDKs do. */
const VERSION_DEFAULT = '2023-06-01';
/** Without the dash on purpose: `x-stainless` alone describes the SDK just as well. */
const SDK_PREFIX = 'x-stainless';

export function headerRule(
  config: Pick<ProxyConfig, 'forwardClientHeaders' | 'headersKeptBack'>,
  vendor: string,
): HeaderRule {
  const isPrefix = (name: string): boolean => name.endsWith('*');
  return {
    forward: config.forwardClientHeaders,
    sessionHeader: sessionHeader(vendor),
    metadataHeader: metadataHeader(vendor),
    tagsHeader: tagsHeader(vendor),
    keptBack: new Set([
      ...credentialHeaders(vendor),
      ...config.headersKeptBack.filter((name) => !isPrefix(name)),
    ]),
    keptBackPrefixes: [
      SDK_PREFIX,
      ...config.headersKeptBack.filter(isPrefix).map((name) => name.slice(0, -1)),
    ],
  };
}

/**
 * Name and value alternating, names in lower case, ready to send.
 * Order of precedence: the proxy's own, the entry's static ones, the stamped session id, the client's.
 */
export function upstreamHeaders(rule: HeaderRule, input: HeaderInput): HeaderOutcome {
  const length = String(input.contentLength);
  const isVersioned = input.words === 'anthropic';
  if (!rule.forward && !isVersioned)
    return { ok: true, headers: [...fixedOf(input.entry), 'content-length', length] };
  const headers = new Map<string, string>();
  const refused = forwardInto(
    headers,
    input.rawHeaders,
    (name) => (isForwarded(name, rule) || (isVersioned && PROTOCOL.has(name))) && !isKeptBack(name, rule),
  );
  if (refused !== null) return { ok: false, name: refused };
  if (isVersioned && !headers.has(VERSION)) headers.set(VERSION, VERSION_DEFAULT);
  if (rule.forward && input.sessionId !== null) headers.set(rule.sessionHeader, input.sessionId);
  setFixed(headers, input.entry);
  headers.set('content-length', length);
  return { ok: true, headers: [...headers].flat() };
}

type HeaderEntry = HeaderInput['entry'];

/** What is the same for every call of an entry, by entry: made once where nothing of the caller goes along. */
const FIXED = new WeakMap<HeaderEntry, readonly string[]>();

function fixedOf(entry: HeaderEntry): readonly string[] {
  const known = FIXED.get(entry);
  if (known !== undefined) return known;
  const headers = new Map<string, string>();
  setFixed(headers, entry);
  headers.delete('content-length');
  const fixed = [...headers].flat();
  FIXED.set(entry, fixed);
  return fixed;
}

function setFixed(headers: Map<string, string>, entry: HeaderEntry): void {
  headers.set('authorization', `Bearer ${entry.apiKey}`);
  headers.set('accept', 'application/json');
  headers.set('accept-encoding', ACCEPT_CODING);
  headers.set('user-agent', 'parley-proxy');
  for (const [name, value] of entry.extraHeaders) headers.set(name, value);
  headers.set('content-type', 'application/json');
}

/** Adds what is forwarded; a name that comes twice is joined. Returns the name of a value that cannot be sent. */
function forwardInto(
  headers: Map<string, string>,
  rawHeaders: readonly string[],
  goes: (name: string) => boolean,
): string | null {
  const connectionNames = namesInConnection(rawHeaders);
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase();
    if (!goes(name) || connectionNames.has(name)) continue;
    const value = rawHeaders[i + 1] ?? '';
    if (!isSendableValue(value)) return name;
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return null;
}

function isForwarded(name: string, { forward }: HeaderRule): boolean {
  return forward && FORWARDED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

function isKeptBack(name: string, { keptBack, keptBackPrefixes }: HeaderRule): boolean {
  return keptBack.has(name) || keptBackPrefixes.some((prefix) => name.startsWith(prefix));
}

/** A header that `Connection` lists belongs to this hop only. */
function namesInConnection(rawHeaders: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if ((rawHeaders[i] ?? '').toLowerCase() !== 'connection') continue;
    for (const name of (rawHeaders[i + 1] ?? '').split(',')) names.add(name.trim().toLowerCase());
  }
  return names;
}
