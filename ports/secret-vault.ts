/**
 * Secrets at rest (D20).
 * Owns the interface; values are sealed before they reach a file and opened only inside an activity.
 */
export interface SecretVault {
  /** Replaces the value of (scope, name). A scope is a conversation, a run or the installation. */
  put(scope: string, name: string, value: string): Promise<void>;
  /** @throws ParleyError seal_broken when the value does not open with the configured key */
  get(scope: string, name: string): Promise<string | null>;
  names(scope: string): Promise<readonly string[]>;
  /** Removing what is not there is success. */
  remove(scope: string, name: string): Promise<void>;
  removeScope(scope: string): Promise<void>;
}
