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
  /**
   * How the addresses of that host begin for everybody else, null where they have no such beginning, and what stands in
   * their place inside a sandbox.
   * @throws ParleyError as `cloneUrl`
   */
  addressOfHost(
    repository: { readonly provider: string | null; readonly name: string },
    gitUrl: string,
  ): { readonly outside: string | null; readonly inside: string };
}
