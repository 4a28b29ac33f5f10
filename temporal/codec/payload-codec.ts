/**
 * Payloads in the histories of Temporal: compressed when they are large, encrypted before they leave a process, opened
 * after they come back (D20). The size of a compressed text reveals what it shares with a secret beside it; no payload
 * holds a secret.
 * Owns what is sealed and what stands in clear beside it; must not choose what becomes a payload.
 *
 * A sealed payload holds the whole payload, metadata included, by AES-256-GCM under the current key: 12 bytes of random
 * nonce, the cipher text, 16 bytes of tag. Its metadata names encoding, algorithm and key id, and these are bound as
 * associated data. Nothing else is bound, neither namespace nor workflow id: the server copies payloads where no codec
 * runs, from a schedule's action to a workflow whose id has the time appended, from a heartbeat into the failure of its
 * activity, from a child into its parent, from a run into its retry, and a codec server does not learn whose payload it
 * gets. An attacker who can write to the server's database can therefore swap one whole payload for another under the
 * same key; namespaces that must not share that take different keys.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { ParleyError } from '../../core/parley-error.ts';
import { CODEC_KEY_ID, CODEC_KEYS_VARIABLE, type CodecKey, type CodecKeys } from './codec-keys.ts';
import { compressed, decompressed } from './compression.ts';
import { encodingOf, METADATA, metadataText } from './metadata.ts';
import { payloadFromBytes, payloadToBytes } from './payload-bytes.ts';

export const ENCRYPTED_ENCODING = 'binary/encrypted';
const ALGORITHM = 'aes-256-gcm';
/** 96 random bits: below 2^32 payloads of one key, two with the same nonce are not to be expected. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Compresses what is large, encrypts with the current key, and opens with every key; what is neither compressed nor
 * encrypted passes, so that older histories stay readable. Without keys nothing is encrypted, and an encrypted payload
 * is an error with a remedy. One call of `encode` adds one layer of each, and one call of `decode` takes one off.
 * @throws ParleyError codec_key_missing, seal_broken, payload_unreadable, from `decode`
 */
export function payloadCodecOf(keys: CodecKeys | null): PayloadCodec {
  return {
    async encode(payloads) {
      const smaller = await Promise.all(payloads.map(compressed));
      return keys === null ? smaller : smaller.map((payload) => seal(payload, keys.current));
    },
    async decode(payloads) {
      const opened = payloads.map((payload) => (isEncrypted(payload) ? open(payload, keys) : payload));
      return await decompressed(opened);
    },
  };
}

export function isEncrypted(payload: Payload): boolean {
  return encodingOf(payload) === ENCRYPTED_ENCODING;
}

/** Id of the key that sealed the payload; null when it is not encrypted or names none. */
export function keyIdOf(payload: Payload): string | null {
  return isEncrypted(payload) ? metadataText(payload, METADATA.keyId) : null;
}

function seal(payload: Payload, { id, key }: CodecKey): Payload {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associatedData(id));
  const body = Buffer.concat([cipher.update(payloadToBytes(payload)), cipher.final()]);
  return {
    ...payload,
    metadata: {
      [METADATA.encoding]: Buffer.from(ENCRYPTED_ENCODING),
      [METADATA.algorithm]: Buffer.from(ALGORITHM),
      [METADATA.keyId]: Buffer.from(id),
    },
    data: Buffer.concat([nonce, body, cipher.getAuthTag()]),
  };
}

function open(payload: Payload, keys: CodecKeys | null): Payload {
  const key = keyFor(payload, keys);
  if (metadataText(payload, METADATA.algorithm) !== ALGORITHM) {
    throw broken(`it was not sealed by ${ALGORITHM}; read it with the codec that sealed it`);
  }
  try {
    return { ...payload, ...payloadFromBytes(decipher(payload.data ?? new Uint8Array(0), key)) };
  } catch (cause) {
    const problem = `it was changed, or the key "${key.id}" is another than the one that sealed it`;
    throw broken(`${problem}; restore the key of that id`, cause);
  }
}

function decipher(data: Uint8Array, { id, key }: CodecKey): Uint8Array {
  if (data.length < NONCE_BYTES + TAG_BYTES) throw new RangeError('Cannot decrypt: it is too short');
  const body = data.subarray(NONCE_BYTES, data.length - TAG_BYTES);
  const decipherer = createDecipheriv(ALGORITHM, key, data.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipherer.setAAD(associatedData(id));
  decipherer.setAuthTag(data.subarray(data.length - TAG_BYTES));
  return Buffer.concat([decipherer.update(body), decipherer.final()]);
}

/** The metadata in clear, so that none of it can be exchanged; a zero cannot be part of a value. */
function associatedData(keyId: string): Uint8Array {
  return Buffer.from([ENCRYPTED_ENCODING, ALGORITHM, keyId].join('\0'));
}

function keyFor(payload: Payload, keys: CodecKeys | null): CodecKey {
  const id = metadataText(payload, METADATA.keyId);
  if (id === null || !CODEC_KEY_ID.test(id)) {
    throw broken('it names no valid key id; read it with the codec that sealed it');
  }
  const key = keys?.byId.get(id);
  if (key === undefined) {
    throw new ParleyError(
      'codec_key_missing',
      `Cannot decrypt a payload: the key "${id}" is not configured; add it under that id to ${CODEC_KEYS_VARIABLE}`,
      { details: { keyId: id } },
    );
  }
  return key;
}

function broken(problem: string, cause?: unknown): ParleyError {
  return new ParleyError('seal_broken', `Cannot decrypt a payload: ${problem}`, { cause });
}
