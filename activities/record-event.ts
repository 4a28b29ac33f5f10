/**
 * record: keeps what happened outside the agent for the reader of a conversation.
 * Owns where it is kept: a start that failed and a message that is not delivered are events of the transcript, as an
 * agent's own errors are, and everything else stands beside it. Its machine waits for no answer.
 */
import type { CommandOf } from '../core/machine/command.ts';
import { TRANSCRIPT_CODES } from '../core/machine/projection.ts';
import type { ConversationId } from '../core/ids.ts';
import type { Handler } from './activity.ts';
import { appendEvents } from './transcript.ts';
import type { World } from './world.ts';

export const recordEvent = (world: World): Handler<'record'> => ({
  run: async (command) => {
    const { conversationId, code } = command.event;
    if (TRANSCRIPT_CODES.has(code) && conversationId !== null) await tell(world, conversationId, command);
    else await world.lifecycle.record(command.event, world.clock.now());
    return null;
  },
  failed: () => null,
});

async function tell(
  world: World,
  conversationId: ConversationId,
  { id, event: { code, detail } }: CommandOf<'record'>,
): Promise<void> {
  const event = { kind: 'ConversationErrorEvent', source: 'environment', code, detail } as const;
  const timestamp = new Date(world.clock.now()).toISOString();
  await appendEvents(world, conversationId, [{ id: world.keys.uuidOf(id), timestamp, ...event }]);
}
