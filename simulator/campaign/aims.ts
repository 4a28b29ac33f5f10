/**
 * What a seed aims at: nothing in particular, one kind of fault, or one pair of a transition and a class of fault.
 * Owns the seed space, so that a seed alone says what it plays: every even seed is left to chance, every odd one has
 * an aim, and the aims come round again and again.
 */
import { FAULT_NAMES, type FaultName } from '../faults/catalogue.ts';
import { PAIRS, pairName, type Pair } from './transitions.ts';

export type Aim =
  { readonly kind: 'fault'; readonly fault: FaultName } | { readonly kind: 'pair'; readonly pair: Pair };

export const AIMS: readonly Aim[] = [
  ...FAULT_NAMES.map((fault) => ({ kind: 'fault', fault }) as const),
  ...PAIRS.map((pair) => ({ kind: 'pair', pair }) as const),
];

/** Neighbouring seeds aim at different machines and classes; a prime, so that no aim is left out. */
const STRIDE = 389;
/** Seeds until the same aim comes round again. */
const ROUND = 2 * AIMS.length;

/** Null for a seed that is left to chance. */
export function aimOf(seed: number): Aim | null {
  if (seed % 2 === 0) return null;
  const turn = ((seed - 1) / 2) % AIMS.length;
  return AIMS[(turn * STRIDE) % AIMS.length] ?? null;
}

/** The seeds of one aim, one for each `round` from 0, none below `from`. */
export function aimSeed(index: number, round: number, from: number): number {
  const first = 2 * (TURN_OF[index] ?? 0) + 1;
  const skipped = Math.max(0, Math.ceil((from - first) / ROUND));
  return first + (skipped + round) * ROUND;
}

/** By index of an aim, the turn at which it comes. */
const TURN_OF: readonly number[] = (() => {
  const turns = AIMS.map(() => 0);
  for (const turn of AIMS.keys()) turns[(turn * STRIDE) % AIMS.length] = turn;
  return turns;
})();

/** An aim in a word, as seeds and failures name it. */
export function aimName(aim: Aim): string {
  return aim.kind === 'fault' ? aim.fault : pairName(aim.pair);
}
