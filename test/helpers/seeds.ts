/**
 * Which seeds a test plays: those of test/seeds.json, or from PARLEY_SEED on, as `npm run explore` does.
 * Owns the one reading of that list by tests; must not draw a number.
 */
import listed from '../seeds.json' with { type: 'json' };

export interface Seeds {
  /** The first. */
  readonly seed: number;
  /** How many, from there upwards. */
  readonly count: number;
}

/** @throws Error when the list has no such play, or PARLEY_SEED is no whole number of 0 or more */
export function seedsOf(play: string): Seeds {
  const line = listed.find((one) => one.play === play);
  if (line === undefined) throw new Error(`Cannot play "${play}": test/seeds.json does not list it`);
  return { seed: explored(process.env['PARLEY_SEED']) ?? line.seed, count: line.count };
}

/** Null outside of `npm run explore`. */
function explored(text: string | undefined): number | null {
  if (text === undefined || text === '') return null;
  if (!/^\d{1,15}$/.test(text))
    throw new Error(`Cannot play from seed "${text}": PARLEY_SEED is no whole number`);
  return Number(text);
}
