/**
 * A TCP port as it is typed.
 * Owns its bounds; must not ask whether it is free.
 */
import { InvalidArgumentError } from 'commander';

const PORT_MAX = 65_535;

/** From 0, which lets the system choose. @throws InvalidArgumentError */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= PORT_MAX) return port;
  throw new InvalidArgumentError(`Give a number from 0 to ${PORT_MAX}.`);
}
