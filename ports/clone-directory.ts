/**
 * Where a sandbox clones a repository from.
 * Owns the interface; templates and relays are the implementation's business (D19).
 */
export interface CloneDirectory {
  /**
   * URL as seen from inside a sandbox; it holds no credential. `provider` null means the deployment's default.
   * @throws ParleyError invalid_request: the provider is not configured, or the name is no possible name
   */
  cloneUrl(repository: { readonly provider: string | null; readonly name: string }, gitUrl: string): string;
}
