/**
 * offerRoom: a slot is free, and the next waiter in the line is notified to request again (D29).
 * Owns the notification; the store that counts slots decides whose turn it is. An offer reserves nothing: a slot that
 * is free for one waiter in the line is refused to every waiter behind it.
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

/** A waiter that is notified twice requests twice, and keeps its place in the line. */
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
