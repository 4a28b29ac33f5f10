/**
 * Keys and ids derived from the seal key and the facts they stand for.
 * Owns the derivations; nothing here is stored, and the same facts always give the same text.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { conversationId, hyphenatedUuid, sandboxId } from '../../core/ids.ts';
import type { KeyMinter } from '../../ports/key-minter.ts';
import { deriveKey, type SealKey } from '../access/seal-key.ts';

const PROXY_KEY_PREFIX = 'pk';
/** Bytes of a MAC that are kept: 160 bits, far beyond guessing. */
const MAC_BYTES = 20;

/** Session keys kept: every step of a conversation asks for its sandbox's again. */
const SESSION_KEYS_MAX = 1_000;

export function createKeyMinter(sealKey: SealKey): KeyMinter {
  const sessions = deriveKey(sealKey, 'session-keys');
  const proxy = deriveKey(sealKey, 'proxy-keys');
  const requests = deriveKey(sealKey, 'request-marks');
  const mac = (key: Uint8Array, text: string): string =>
    createHmac('sha256', key).update(text).digest().subarray(0, MAC_BYTES).toString('base64url');
  const proxyKey: KeyMinter['proxyKey'] = (conversation, generation) =>
    `${PROXY_KEY_PREFIX}-${conversation}-${generation}-${mac(proxy, `${conversation}/${generation}`)}`;
  return {
    sessionKey: remembered((incarnation) => `sk-${mac(sessions, incarnation)}`),
    proxyKey,
    proxyKeyOwner: (key) => readProxyKey(key, proxyKey),
    conversationIdOf: ({ runId, key, attempt }) =>
      conversationId(hexOf(`conversation/${runId}/${key}/${attempt}`)),
    sandboxIdOf: (conversation, placement) => sandboxId(hexOf(`sandbox/${conversation}/${placement}`)),
    uuidOf: (text) => hyphenatedUuid(hexOf(`uuid/${text}`)),
    requestMark: (text) => mac(requests, text),
    sha256,
  };
}

/** Forgets the oldest when there are too many; what is forgotten is computed again. */
function remembered(make: (incarnation: string) => string): KeyMinter['sessionKey'] {
  const known = new Map<string, string>();
  return (sandbox, generation) => {
    const incarnation = `${sandbox}/${generation}`;
    const key = known.get(incarnation) ?? make(incarnation);
    if (!known.has(incarnation) && known.size >= SESSION_KEYS_MAX) known.delete(oldestOf(known));
    known.set(incarnation, key);
    return key;
  };
}

function oldestOf(known: ReadonlyMap<string, string>): string {
  return known.keys().next().value ?? '';
}

/** Recomputes the key that it claims to be, and compares in constant time. */
function readProxyKey(key: string, proxyKey: KeyMinter['proxyKey']): ReturnType<KeyMinter['proxyKeyOwner']> {
  const match = /^pk-([0-9a-f]{32})-(\d{1,9})-[A-Za-z0-9_-]+$/.exec(key);
  if (match === null) return null;
  const owner = { conversationId: conversationId(match[1] ?? ''), generation: Number(match[2]) };
  const expected = Buffer.from(proxyKey(owner.conversationId, owner.generation));
  const given = Buffer.from(key);
  return expected.length === given.length && timingSafeEqual(expected, given) ? owner : null;
}

/** A version 8 UUID (made from content) as 32 hex digits. */
function hexOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex');
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
