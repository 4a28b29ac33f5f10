/**
 * What is tried again at this moment, for the records of runs and items.
 * Owns the reading; whose trouble it is, is decided in core/.
 */
import { isCurrent } from '../../core/current-trouble.ts';
import type { TroubleOf } from '../../core/trouble.ts';
import type { Application } from '../application/application.ts';

export async function currentTroubles({ troubles, world }: Application): Promise<readonly TroubleOf[]> {
  const now = world.clock.now();
  return (await troubles.open()).filter((trouble) => isCurrent(trouble, now));
}
