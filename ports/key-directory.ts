/**
 * Who may call the proxy.
 * Owns the interface between the proxy and whatever issues keys; must not hold a key in clear.
 */

/** What a virtual key allows. `name` goes into spend rows; the value never does. */
export interface ProxyCaller {
  readonly name: string;
  /** Conversation the key is bound to: the session id is taken from here, not from the caller's header (D19, D23). */
  readonly sessionId: string | null;
  readonly userId: string | null;
  /** Model names it may use; null for all. */
  readonly models: readonly string[] | null;
}

export interface KeyDirectory {
  /** The caller behind a key, or null when it is unknown, expired or of a stale generation (D14). */
  find(key: string): Promise<ProxyCaller | null>;
}
