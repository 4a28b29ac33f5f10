/**
 * Who may call the proxy.
 * Owns the interface between the proxy and whatever issues keys; must not hold a key in clear.
 */
import type { ProxyKeyRecord } from './proxy-keys.ts';

/** What a virtual key allows. `name` goes into spend rows; the value never does. */
export interface ProxyCaller {
  readonly name: string;
  /** Conversation the key is bound to: the session id is taken from here, not from the caller's header (D19, D23). */
  readonly sessionId: string | null;
  readonly userId: string | null;
  /** Model names it may use; null for all. */
  readonly models: readonly string[] | null;
  /** Team that the key belongs to; absent for none. */
  readonly team?: string;
  /** On every row of the key; absent for none. */
  readonly tags?: readonly string[];
  /** Under the metadata of every row of the key, where the call's own does not say otherwise; absent for none. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Rate limits and budget to be kept; absent for a key without any. */
  readonly limits?: ProxyKeyRecord;
}

/** Says who stands behind a key that was presented. */
export interface KeyDirectory {
  /**
   * The caller behind a key, or null when it is unknown, expired or of a stale generation (D14); at once where it is
   * in memory, because every call asks. `sha256` is the digest of the key in hexadecimal.
   */
  find(key: string, sha256: string): ProxyCaller | null | Promise<ProxyCaller | null>;
}
