/**
 * The key that seals secrets at rest, and keys derived from it (D20).
 * Owns its source and that no other user can read it; the bytes never become text outside the key file.
 */
import { createHash, createSecretKey, hkdfSync, randomBytes, type KeyObject } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';

export const SEAL_KEY_BYTES = 32;

/** The key under which secrets are stored. */
export interface SealKey {
  /** Names the key without revealing it; stored with every sealed value. */
  readonly id: string;
  /** Prints as an object, never as its bytes. */
  readonly key: KeyObject;
}

/** @throws ParleyError config_invalid when there are not 32 bytes */
export function sealKey(bytes: Uint8Array): SealKey {
  if (bytes.byteLength !== SEAL_KEY_BYTES) {
    throw new ParleyError(
      'config_invalid',
      `Cannot use the seal key: it has ${bytes.byteLength} bytes instead of 32`,
    );
  }
  const key = createSecretKey(bytes);
  const id = createHash('sha256').update(derive(key, 'key-id')).digest('hex').slice(0, 16);
  return { id, key };
}

/** For processes that share only a long random text: the same text gives the same key. */
export function sealKeyOfSecret(secret: string): SealKey {
  const bytes = hkdfSync('sha256', secret, new Uint8Array(0), 'parley/shared-secret', SEAL_KEY_BYTES);
  return sealKey(new Uint8Array(bytes));
}

/**
 * A key for one purpose (sessions, the proxy): 32 bytes by HKDF-SHA-256. Purposes do not reveal each other or the seal key.
 */
export function deriveKey(from: SealKey, purpose: string): Uint8Array {
  return derive(from.key, purpose);
}

function derive(key: KeyObject, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', key, new Uint8Array(0), `parley/${purpose}`, SEAL_KEY_BYTES));
}

/**
 * The key from `env` (the value of PARLEY_SEAL_KEY, base64 of 32 bytes), or else from the file at `path`, which is made
 * with mode 0600 on first use.
 * @throws ParleyError config_invalid when the value or the file is malformed, or others may read the file
 */
export function loadSealKey(source: {
  readonly env: string | undefined;
  readonly path: string;
  readonly random?: (bytes: number) => Uint8Array;
}): SealKey {
  if (source.env !== undefined && source.env !== '') return parseKey(source.env, 'PARLEY_SEAL_KEY');
  const file = source.path;
  createOnce(file, source.random ?? randomBytes);
  const mode = statSync(file).mode & 0o777;
  if ((mode & 0o077) !== 0) {
    throw new ParleyError(
      'config_invalid',
      `Cannot use the key file "${file}": its mode is ${mode.toString(8)}, so others may read it; run chmod 600 on it`,
    );
  }
  return parseKey(readFileSync(file, 'utf8'), file);
}

function parseKey(text: string, origin: string): SealKey {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed, 'base64');
  if (!/^[A-Za-z0-9+/]{43}=?$/.test(trimmed) || bytes.byteLength !== SEAL_KEY_BYTES) {
    throw new ParleyError(
      'config_invalid',
      `Cannot use the seal key of "${origin}": it is not base64 of 32 bytes`,
    );
  }
  return sealKey(bytes);
}

/** Written aside and linked, so that of two processes one makes the key, and neither reads half of it. */
function createOnce(file: string, random: (bytes: number) => Uint8Array): void {
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return;
  mkdirSync(path.dirname(file), { recursive: true });
  const aside = `${file}.${Buffer.from(random(8)).toString('hex')}`;
  const handle = openSync(aside, 'wx', 0o600);
  try {
    writeSync(handle, `${Buffer.from(random(SEAL_KEY_BYTES)).toString('base64')}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  try {
    linkSync(aside, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}
