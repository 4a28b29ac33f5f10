/** Ports for programs that start later, on a machine that makes connections meanwhile. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { freePort, holdFreePort, isPortFree, portOf, release } from '../../loopback/free-port.ts';

const held: Awaited<ReturnType<typeof holdFreePort>>[] = [];
afterEach(async () => {
  await Promise.all(held.splice(0).map(release));
});

it('gives ports that no outgoing connection gets', async () => {
  const outgoing = process.platform === 'linux' ? firstOutgoing() : 32_768;
  const ports = await Promise.all(Array.from({ length: 100 }, () => freePort()));
  for (const port of ports) {
    expect(port).toBeGreaterThanOrEqual(11_000);
    expect(port).toBeLessThan(outgoing);
  }
  expect(new Set(ports).size).toBeGreaterThan(90);
});

it('keeps a port while it is held, and gives the one that was there before', async () => {
  const first = await holdFreePort();
  const port = portOf(first);
  expect(await isPortFree(port)).toBe(false);
  await release(first);
  expect(await isPortFree(port)).toBe(true);
  const again = await holdFreePort(port);
  held.push(again);
  expect(portOf(again)).toBe(port);
});

it('gives another one where the one before is taken', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  held.push(taken);
  const other = await holdFreePort(portOf(taken));
  held.push(other);
  expect(portOf(other)).not.toBe(portOf(taken));
});

function firstOutgoing(): number {
  return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10);
}
