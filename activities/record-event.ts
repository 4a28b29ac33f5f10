/**
 * record: keeps what happened outside the agent for the reader of a conversation.
 * Owns nothing else; its machine waits for no answer.
 */
import { PATIENT, type Activity } from './activity.ts';
import type { World } from './world.ts';

export const recordEvent = (world: World): Activity<'record'> => ({
  type: 'record',
  retry: PATIENT,
  run: async (command) => {
    await world.lifecycle.record(command.event, world.clock.now());
    return null;
  },
  failed: () => null,
});
