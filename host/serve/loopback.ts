/**
 * Whether an address is reached from this machine alone.
 * Owns the names that count as such.
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
