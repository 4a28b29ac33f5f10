/**
 * What every racetrack has, whatever service is raced: waits drawn from the seed, and an Agent Server that is late.
 * Owns the seed; must not know a race.
 */
import { agentEvent } from '../activities/fake-agent.ts';
import { RandomStream } from '../../simulator/random.ts';
import { seedsOf } from '../helpers/seeds.ts';
import type { Racetrack } from './races.ts';
import { callSocket } from './socket-call.ts';

const { seed: SEED } = seedsOf('api-races');

/** Waits of up to so many milliseconds, three of ten of none. */
export function waitsUpTo(maxMs: number): Racetrack['jitter'] {
  const random = new RandomStream(SEED);
  return () => wait(random.happens(0.3) ? 0 : random.next() * maxMs);
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
