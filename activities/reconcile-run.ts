import { ONCE, type Activity } from './activity.ts';
import type { World } from './world.ts';
export const reconcileRun = (_world: World): Activity<'reconcileRun'> => ({ type: 'reconcileRun', resource: 'bookkeeping', retry: ONCE, run: async () => null, failed: () => null });
