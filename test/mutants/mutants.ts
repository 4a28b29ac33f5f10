/** Every planted bug, by name. Owns the list; the bugs are in the files beside it. */
import type { Mutant } from './mutant.ts';
import { OF_CONVERSATIONS } from './of-conversations.ts';
import { OF_DRIVERS } from './of-drivers.ts';
import { OF_HOSTS } from './of-hosts.ts';
import { OF_PAUSES } from './of-pauses.ts';
import { OF_POOLS } from './of-pools.ts';
import { OF_RUNS } from './of-runs.ts';
import { OF_SANDBOXES } from './of-sandboxes.ts';

export const MUTANTS: readonly Mutant[] = [
  ...OF_SANDBOXES,
  ...OF_PAUSES,
  ...OF_CONVERSATIONS,
  ...OF_RUNS,
  ...OF_POOLS,
  ...OF_HOSTS,
  ...OF_DRIVERS,
];
