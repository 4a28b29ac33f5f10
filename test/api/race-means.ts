/**
 * What every racetrack has, whatever service is raced: waits drawn from the seed, and an Agent Server that is late.
 * Owns the seed; must not know a race.
 */
import { agentEvent } from '../activities/fake-agent.ts';
import { seededRandom } from '../e2e/seeded-random.ts';
import type { Racetrack } from './races.ts';
import { callSocket } from './socket-call.ts';

const SEED = Number(process.env['PARLEY_RACES_SEED'] ?? 1);

/** Waits of up to so many milliseconds, three of ten of none. */
export function waitsUpTo(maxMs: number): Racetrack['jitter'] {
  const random = seededRandom(SEED);
  return () => wait(random() < 0.3 ? 0 : random() * maxMs);
}

/** Sends an event of its own accord, each with another id, to the webhook behind the socket. */
export function lateAgent(socketPath: string): Racetrack['callBack'] {
  let events = 0;
  return async ({ id, sessionKey }) => {
    const { status } = await callSocket({
      socketPath,
      path: `/api/v1/webhooks/events/${id}`,
      headers: { 'x-session-api-key': sessionKey },
      body: [agentEvent(`late-${(events += 1)}`)],
    });
    return status;
  };
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => (ms === 0 ? setImmediate(resolve) : setTimeout(resolve, ms)));
}
