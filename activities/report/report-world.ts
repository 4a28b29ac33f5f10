/**
 * What a report is gathered from.
 * Owns the choice of ports: all of them only read, so that whoever may read a store may draw a report from it.
 */
import type { World } from '../world.ts';

export type ReportWorld = Pick<
  World,
  'records' | 'plans' | 'events' | 'spend' | 'vault' | 'results' | 'keys' | 'clock'
>;
