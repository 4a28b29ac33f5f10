/**
 * The name of a sandbox that is made ahead for the pool of a run; its id follows from it.
 * Owns the name, for the product and for its simulation alike; the same order gives the same names, so that a repeat
 * makes nothing twice.
 */
import type { CommandOf } from '../machine/command.ts';

/** `number` counts from 0. */
export function warmedName({ runId, round }: CommandOf<'warmPool'>, number: number): string {
  return round === undefined ? `pool/${runId}/${number}` : `pool/${runId}/${round}/${number}`;
}
