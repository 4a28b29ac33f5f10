/**
 * The keys that encrypt payloads, as they are configured (D20).
 * Owns the form of PARLEY_TEMPORAL_CODEC_KEYS; must not let a part of its value reach an error or a log.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { ParleyError } from '../../core/parley-error.ts';

/** `id:base64[,id:base64…]`: the first key encrypts, every key decrypts. */
export const CODEC_KEYS_VARIABLE = 'PARLEY_TEMPORAL_CODEC_KEYS';

/** AES-256. */
export const CODEC_KEY_BYTES = 32;

/**
 * What an id may be. It stands in clear beside every payload; a key of 43 characters or more is too long to pass for
 * one, so that a key in the place of the id is refused and never published.
 */
export const CODEC_KEY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;

/** One key for payloads. */
export interface CodecKey {
  readonly id: string;
  /** Prints as an object, never as its bytes. */
  readonly key: KeyObject;
}

/** The keys that payloads are, or were, encrypted with. */
export interface CodecKeys {
  /** The key that encrypts. */
  readonly current: CodecKey;
  /** Every key, the current one included. */
  readonly byId: ReadonlyMap<string, CodecKey>;
}

/**
 * Keys of the variable's `value`; null when it is not set or empty: then nothing is encrypted.
 * @throws ParleyError config_invalid; it names an entry by its place, because any part of the value may be a key
 */
export function parseCodecKeys(value: string | undefined): CodecKeys | null {
  if (value === undefined || value === '') return null;
  const byId = new Map<string, CodecKey>();
  const keys = value.split(',').map((entry, index) => parseEntry(entry.trim(), index + 1));
  for (const [index, key] of keys.entries()) {
    if (byId.has(key.id)) {
      throw invalid(index + 1, 'has the id of an earlier entry', 'give every key an id of its own');
    }
    byId.set(key.id, key);
  }
  const [current] = keys;
  return current === undefined ? null : { current, byId };
}

const FORM = 'write id:base64, with ids of 1 to 32 letters, digits, ".", "_" and "-"';
const MAKE_KEY = 'make a key with "openssl rand -base64 32"';

function parseEntry(entry: string, place: number): CodecKey {
  if (entry === '') throw invalid(place, 'is empty', `${FORM}, and one comma between two keys`);
  const colon = entry.indexOf(':');
  if (colon === -1) throw invalid(place, 'has no colon', FORM);
  const id = entry.slice(0, colon);
  if (!CODEC_KEY_ID.test(id)) throw invalid(place, 'has no valid id', FORM);
  return { id, key: createSecretKey(parseBytes(entry.slice(colon + 1), place)) };
}

/** Node skips what is not base64, so the text is compared with what its bytes would be written as. */
function parseBytes(text: string, place: number): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (withoutPadding(bytes.toString('base64')) !== withoutPadding(text)) {
    throw invalid(place, 'has a key that is not base64', MAKE_KEY);
  }
  if (bytes.byteLength !== CODEC_KEY_BYTES) {
    throw invalid(place, `has a key of ${bytes.byteLength} bytes instead of ${CODEC_KEY_BYTES}`, MAKE_KEY);
  }
  return bytes;
}

function withoutPadding(text: string): string {
  return text.replace(/={1,2}$/, '');
}

function invalid(place: number, problem: string, remedy: string): ParleyError {
  const message = `Cannot read ${CODEC_KEYS_VARIABLE}: entry ${place} ${problem}`;
  return new ParleyError('config_invalid', message, { remedy });
}
