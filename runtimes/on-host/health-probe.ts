/**
 * Asks an Agent Server whether it is up.
 * Owns one probe; sends no key, for whatever runs inside may have replaced the socket.
 */
import { lstat } from 'node:fs/promises';
import { request } from 'node:http';
import { PROBE_TIMEOUT_MS } from './limits.ts';

/** True when `GET /health` answered 200. Never throws: anything else is "not yet". */
export async function answersHealth(socketPath: string): Promise<boolean> {
  const stat = await lstat(socketPath).catch(() => null);
  if (stat === null || !stat.isSocket()) return false;
  return await new Promise((resolve) => {
    const probe = request(
      { socketPath, path: '/health', timeout: PROBE_TIMEOUT_MS, agent: false },
      (response) => {
        resolve(response.statusCode === 200);
        response.destroy();
      },
    );
    probe.on('timeout', () => probe.destroy());
    probe.on('error', () => resolve(false));
    probe.end();
  });
}
