/**
 * offerRoom: a slot is free, and who is next in the line is told to ask again (D29).
 * Owns the telling; whose turn it is, is decided where slots are counted. An offer reserves nothing: what is free for
 * somebody in the line is refused to anybody behind.
 */
import { PATIENT, type Activity } from './activity.ts';
import type { World } from './world.ts';

export const offerRoom = (world: World): Activity<'offerRoom'> => ({
  type: 'offerRoom',
  retry: PATIENT,
  run: async () => {
    await offerRoomTo(world);
    return null;
  },
  failed: () => null,
});

/** Told twice, it asks twice, and stands where it stood. */
export async function offerRoomTo({ placement, deployment, clock, notifier }: World): Promise<void> {
  const next = await placement.nextInLine({ limits: deployment.capacity, now: clock.now() });
  for (const id of next)
    await notifier.deliver({ to: { machine: 'conversation', id }, event: { type: 'roomOffered' } });
}
