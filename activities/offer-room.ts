/**
 * offerRoom: a slot is free, and who is next in the line is told to ask again (D29).
 * Owns the telling; whose turn it is, is decided where slots are counted. An offer reserves nothing: what is free for
 * somebody in the line is refused to anybody behind.
 */
import { conversationId, sandboxId } from '../core/ids.ts';
import type { Handler } from './activity.ts';
import type { World } from './world.ts';

export const offerRoom = (world: World): Handler<'offerRoom'> => ({
  run: async () => {
    await offerRoomTo(world);
    return null;
  },
  failed: () => null,
});

/** Told twice, it asks twice, and stands where it stood. */
export async function offerRoomTo({ placement, deployment, clock, notifier }: World): Promise<void> {
  const next = await placement.nextInLine({ limits: deployment.capacity, now: clock.now() });
  const event = { type: 'roomOffered' } as const;
  for (const { machine, waiterId } of next)
    await notifier.deliver(
      machine === 'sandbox'
        ? { to: { machine, id: sandboxId(waiterId) }, event }
        : { to: { machine, id: conversationId(waiterId) }, event },
    );
}
