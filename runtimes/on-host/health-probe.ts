/**
 * Asks an Agent Server whether it is up.
 * Owns one probe and the pause before the next; sends no key, for whatever runs inside may have replaced the socket.
 */
import { existsSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { request } from 'node:http';
import type { Clock } from '../../ports/clock.ts';
import { PROBE_INTERVAL_MS, PROBE_TIMEOUT_MS, SOCKET_POLL_MS } from './limits.ts';
import { sleep, timeLeft } from './wait.ts';

/** `absent`: there is no socket. `silent`: there is one, and nothing said 200 on it. */
export type Health = 'absent' | 'silent' | 'up';

/** Asks `GET /health`. Never throws. */
export async function healthAt(socketPath: string): Promise<Health> {
  const stat = await lstat(socketPath).catch(() => null);
  if (stat === null || !stat.isSocket()) return 'absent';
  return await new Promise((resolve) => {
    const probe = request(
      { socketPath, path: '/health', timeout: PROBE_TIMEOUT_MS, agent: false },
      (response) => {
        resolve(response.statusCode === 200 ? 'up' : 'silent');
        response.destroy();
      },
    );
    probe.on('timeout', () => probe.destroy());
    probe.on('error', () => resolve('silent'));
    probe.end();
  });
}

/** Ends after the usual interval, at the deadline, when aborted, or as soon as a socket is there that was absent. */
export async function untilNextProbe(socketPath: string, after: Health, wait: ProbeWait): Promise<void> {
  const { clock, waitMs, aborted } = wait;
  const leftMs = timeLeft(clock, clock.now() + Math.min(PROBE_INTERVAL_MS, waitMs));
  for (let left = leftMs(); left > 0 && !aborted.aborted; left = leftMs()) {
    await sleep(clock, after === 'absent' ? Math.min(SOCKET_POLL_MS, left) : left, aborted);
    if (after === 'absent' && existsSync(socketPath)) return;
  }
}

interface ProbeWait {
  readonly clock: Clock;
  /** What is left of the wait as a whole. */
  readonly waitMs: number;
  readonly aborted: AbortSignal;
}
