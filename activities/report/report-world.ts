/**
 * What a report is gathered from.
 * Owns the choice of ports: all of them only read, so that every reader of a store can draw a report from it.
 */
import type { World } from '../world.ts';

export interface ReportWorld extends Pick<
  World,
  'records' | 'plans' | 'events' | 'spend' | 'vault' | 'results' | 'keys' | 'clock'
> {
  /** Absent: the caller knows of no console. */
  readonly deployment?: Pick<World['deployment'], 'consoleUrl'>;
}
