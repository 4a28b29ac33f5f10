/**
 * TCP ports of loopback that a program which starts later can listen on.
 * Owns which ones are tried: not those that the system uses for outgoing connections, or a busy machine takes the port
 * between the choice and its use. When another program takes it all the same, the caller must detect that.
 */
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';

const LOOPBACK = '127.0.0.1';
/** Below are the names of well-known services, and 10,080, which `fetch` refuses. */
const LOWEST = 11_000;
/** Where outgoing connections begin on a system that does not report it; macOS and Windows begin at 49,152. */
const OUTGOING_FROM = 32_768;
/** With fewer to choose from, two programs that choose at once would often meet. */
const CHOICE_MIN = 1_000;
const TRIES_MAX = 64;

/** @throws Error when the system has no port left */
export async function freePort(): Promise<number> {
  const held = await holdFreePort();
  return await release(held);
}

/** Whether a program could listen on it now. */
export async function isPortFree(port: number): Promise<boolean> {
  const held = await hold(port);
  if (held !== null) await release(held);
  return held !== null;
}

/**
 * A listener that keeps its port from others until it is closed; on `preferred` where that is free.
 * @throws Error when the system has no port left
 */
export async function holdFreePort(preferred: number | null = null): Promise<Server> {
  const wanted = preferred === null ? null : await hold(preferred);
  if (wanted !== null) return wanted;
  const end = outgoingFrom();
  for (let tries = 0; end - LOWEST >= CHOICE_MIN && tries < TRIES_MAX; tries += 1) {
    const held = await hold(randomInt(LOWEST, end));
    if (held !== null) return held;
  }
  const any = await hold(0);
  if (any === null) throw new Error('Cannot choose a port: the system gave none');
  return any;
}

/** Of a server that listens. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Resolves with the port, which is free from then on. */
export function release(server: Server): Promise<number> {
  const port = portOf(server);
  return new Promise((resolve) => server.close(() => resolve(port)));
}

function hold(port: number): Promise<Server | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen(port, LOOPBACK, () => resolve(server));
  });
}

/** The first port of outgoing connections. */
function outgoingFrom(): number {
  try {
    const first = Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10);
    return Number.isSafeInteger(first) ? Math.min(first, OUTGOING_FROM) : OUTGOING_FROM;
  } catch {
    return OUTGOING_FROM;
  }
}
