/**
 * Pause with memory: the control group of an incarnation stands still.
 * Owns freezing, thawing and the wait for the kernel; must not stop or start anything.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { Clock } from '../../ports/clock.ts';
import { isGroupFrozen, setGroupFrozen, type SandboxGroup } from './cgroups/sandbox-group.ts';
import { FREEZE_WAIT_MS } from '../on-host/limits.ts';
import { becomesTrue } from '../on-host/wait.ts';

interface FreezeOrder {
  readonly group: SandboxGroup;
  readonly generation: number;
  readonly frozen: boolean;
  readonly clock: Clock;
}

/** @throws ParleyError as `RuntimeFreezer` */
export async function changeFrozen({ group, generation, frozen, clock }: FreezeOrder): Promise<void> {
  await setGroupFrozen(group, frozen);
  const isDone = await becomesTrue(
    clock,
    FREEZE_WAIT_MS,
    async () => (await isGroupFrozen(group)) === frozen,
  );
  if (isDone) return;
  // Half-frozen is neither: what cannot stand still goes on.
  if (frozen) await setGroupFrozen(group, false);
  const message = `Cannot ${frozen ? 'freeze' : 'thaw'} generation ${generation}: the kernel did not answer in time`;
  throw new ParleyError('runtime_unreachable', message);
}
