/**
 * Addresses for the pods of a stand-in cluster: each has one of the loopback network to itself.
 * Owns the counting; processes that test at the same time differ by their number.
 */

const OCTET = 256;
let given = 0;

export function nextAddress(): string {
  given += 1;
  const own = 16 + (process.pid % 200);
  return `127.${own}.${Math.floor(given / 250) % OCTET}.${1 + (given % 250)}`;
}
