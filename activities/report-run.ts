import { ONCE, type Activity } from './activity.ts';
import type { World } from './world.ts';
export const reportRun = (_world: World): Activity<'reportRun'> => ({ type: 'reportRun', resource: 'bookkeeping', retry: ONCE, run: async () => null, failed: () => null });
