/**
 * Pause with memory: the control group of an incarnation stands still.
 * Owns freezing, thawing and the wait for the kernel; must not stop or start anything.
 */
import type { SandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Clock } from '../../ports/clock.ts';
import { isGroupFrozen, setGroupFrozen } from './cgroups/sandbox-group.ts';
import { isRunning } from './incarnation.ts';
import { FREEZE_WAIT_MS } from '../on-host/limits.ts';
import { overtakenOrder } from '../on-host/order-refusals.ts';
import type { SandboxPaths } from './sandbox-paths.ts';
import { readRecord } from './sandbox-record.ts';
import { becomesTrue } from '../on-host/wait.ts';

export interface FreezeOrder {
  readonly sandboxId: SandboxId;
  readonly paths: SandboxPaths;
  readonly generation: number;
  readonly frozen: boolean;
  readonly clock: Clock;
}

/** @throws ParleyError as `RuntimeFreezer` */
export async function changeFrozen(order: FreezeOrder): Promise<void> {
  const { paths, generation, frozen, clock } = order;
  const verb = frozen ? 'freeze' : 'thaw';
  const record = await readRecord(paths);
  if (record !== null && record.generation > generation) throw overtakenOrder(verb, order, record.generation);
  const isUp = record?.generation === generation && record.desired === 'up' && (await isRunning(paths));
  const group = record?.group ?? null;
  if (!isUp || group === null) {
    throw new ParleyError('runtime_gone', `Cannot ${verb} generation ${generation}: it is not up`);
  }
  await setGroupFrozen(group, frozen);
  const isDone = await becomesTrue(
    clock,
    FREEZE_WAIT_MS,
    async () => (await isGroupFrozen(group)) === frozen,
  );
  if (isDone) return;
  // Half-frozen is neither: what cannot stand still goes on.
  if (frozen) await setGroupFrozen(group, false);
  const message = `Cannot ${verb} generation ${generation}: the kernel did not answer in time`;
  throw new ParleyError('runtime_unreachable', message);
}
