/**
 * Which headers carry credentials: they are kept in memory, never in a file. Pure.
 */
const CREDENTIAL_HEADER = /^(proxy-)?authorization$|cookie|token|secret|api-?key|^x-[a-z-]*key$/i;

export function isCredentialHeader(name: string): boolean {
  return CREDENTIAL_HEADER.test(name);
}
