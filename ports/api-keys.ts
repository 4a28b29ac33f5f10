/**
 * Keys of the application API (D5).
 * Owns the interface; a key is stored as its SHA-256, and its text is known to its holder alone.
 */
import type { UserId } from '../core/ids.ts';

/** Whose records a key may see. */
export const KEY_SCOPES = ['admin', 'user'] as const;

/** One of KEY_SCOPES. */
export type KeyScope = (typeof KEY_SCOPES)[number];

/** A key without its text; instants are epoch milliseconds, null for no bound. */
export interface ApiKey {
  readonly keyId: number;
  readonly userId: UserId;
  readonly name: string | null;
  readonly scope: KeyScope;
  readonly createdAt: number;
  readonly notBefore: number | null;
  /** Epoch milliseconds from which it opens nothing; null for never. */
  readonly expiresAt: number | null;
  /** Within a minute or so; null when it was never used. */
  readonly lastUsedAt: number | null;
}

/** Where keys of users are kept. */
export interface ApiKeyStore {
  /** Null when the user has `countMax` of them already. */
  add(key: Omit<ApiKey, 'keyId' | 'lastUsedAt'>, sha256: string, countMax: number): Promise<ApiKey | null>;
  /** The caller checks whether it is in force. */
  findByHash(sha256: string): Promise<ApiKey | null>;
  noteUse(keyId: number, at: number): Promise<void>;
  /** Oldest first. */
  list(userId: UserId): Promise<readonly ApiKey[]>;
  /** Of that user, or whose ever it is with null. True when there was one. */
  remove(userId: UserId | null, keyId: number): Promise<boolean>;
  /** Whether any key exists, so that a client can call at all. */
  hasAny(): Promise<boolean>;
}
