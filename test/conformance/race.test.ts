/** Steps that race on purpose end differently every time; whatever the order, the same invariants hold at rest. */
import { describe, expect, it } from 'vitest';
import { RandomStream } from '../../simulator/random.ts';
import { seedsOf } from '../helpers/seeds.ts';
import { raceEmbedded, raceSimulated } from './race.ts';
import { randomScript } from './random-script.ts';

const { seed: FIRST, count: SCRIPTS } = seedsOf('race-scripts');
const PER_TEST = 20;
/** Orders that each script is raced in, per driver. */
const ORDERS = 3;

describe('invariants at rest after a race', () => {
  it.each(Array.from({ length: SCRIPTS / PER_TEST }, (_, group) => group))(
    'group %i',
    async (group) => {
      for (let at = group * PER_TEST; at < (group + 1) * PER_TEST; at += 1) {
        const seed = FIRST + at;
        const script = randomScript(seed);
        for (let order = 0; order < ORDERS; order += 1) {
          const stream = (driver: string) => new RandomStream(order).split(driver);
          const who = { seed, order };
          expect({ ...who, simulator: raceSimulated(script, stream('simulator')) }).toEqual({
            ...who,
            simulator: [],
          });
          expect({ ...who, embedded: await raceEmbedded(script, stream('embedded')) }).toEqual({
            ...who,
            embedded: [],
          });
        }
      }
    },
    600_000,
  );
});
