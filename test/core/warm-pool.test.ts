/** What the keeper of the warm pool does next, as tables, and over whole lives against a model. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sandboxId, type SandboxId } from '../../core/ids.ts';
import { START_TIMEOUT_MS } from '../../core/limits.ts';
import {
  WARM_BOOTS_AT_ONCE,
  warmSteps,
  type WarmPresence,
  type WarmQuestion,
  type WarmSandbox,
} from '../../core/placement/warm-pool.ts';

const NOW = 1_000_000_000;
const MAX_AGE = 3_600_000;
const idOf = (index: number): SandboxId => sandboxId(index.toString(16).padStart(32, '0'));

function ready(index: number, ageMs = index, changes: Partial<WarmSandbox> = {}): WarmSandbox {
  const bootedAt = NOW - ageMs;
  return {
    ...{ sandboxId: idOf(index), state: 'ready', spec: 'a', reservedAt: bootedAt - 1, bootedAt },
    ...changes,
  };
}
const boots = (index: number, ageMs = 0): WarmSandbox =>
  ready(index, 0, { state: 'booting', bootedAt: null, reservedAt: NOW - ageMs });
const leaves = (index: number): WarmSandbox => ready(index, 0, { state: 'leaving' });

function steps(held: readonly WarmSandbox[], changes: Partial<WarmQuestion> = {}) {
  return warmSteps({
    target: { size: 3, maxAgeMs: MAX_AGE, spec: 'a' },
    held,
    presences: new Map(),
    booting: new Set(),
    isBackingOff: false,
    now: NOW,
    ...changes,
  });
}
const NOTHING = { giveUp: [], remove: [], adopt: [], boot: 0 };
const up = (word: WarmPresence) => ({ presences: new Map([[idOf(1), word]]) });
const target = (size: number) => ({ target: { size, maxAgeMs: MAX_AGE, spec: 'a' } });
const goes = (index: number, reason: string) => ({ giveUp: [{ sandboxId: idOf(index), reason }] });
const TWO = [ready(2), ready(3)];

describe('warmSteps', () => {
  it.each([
    ['a full pool is left alone', [ready(1), ...TWO], {}, {}],
    ['an empty one is filled, a few at a time', [], {}, { boot: WARM_BOOTS_AT_ONCE }],
    ['the last one missing is booted alone', TWO, {}, { boot: 1 }],
    ['what boots already is not booted twice', [boots(1), ...TWO], { booting: new Set([idOf(1)]) }, {}],
    ['what a dead process began goes on', [boots(1), ...TWO], {}, { adopt: [idOf(1)] }],
    ['after a failed boot nothing is booted', [boots(1)], { isBackingOff: true }, {}],
    ['one that is down is replaced', [ready(1), ...TWO], up('down'), { ...goes(1, 'not_up'), boot: 1 }],
    ['one that cannot be asked stays', [ready(1), ...TWO], up('unknown'), {}],
    ['at its maximum age it goes', [ready(1, MAX_AGE), ...TWO], {}, { ...goes(1, 'too_old'), boot: 1 }],
    ['just before it stays', [ready(1, MAX_AGE - 1), ...TWO], {}, {}],
    [
      'one made with something else goes',
      [ready(1, 1, { spec: 'b' }), ...TWO],
      {},
      { ...goes(1, 'other_spec'), boot: 1 },
    ],
    [
      'a boot that takes too long ends',
      [boots(1, START_TIMEOUT_MS), ...TWO],
      { booting: new Set([idOf(1)]) },
      { ...goes(1, 'start_timeout'), boot: 1 },
    ],
    ['of too many the oldest goes', [ready(1, 99), ...TWO], target(2), goes(1, 'surplus')],
    ['a boot goes before one that is ready', [boots(1), ...TWO], target(2), goes(1, 'surplus')],
    ['what was given up is removed', [leaves(1), ready(4), ...TWO], {}, { remove: [idOf(1)] }],
  ] as const)('%s', (_what, held, changes, expected) => {
    expect(steps(held, changes)).toEqual({ ...NOTHING, ...expected });
  });

  it('keeps none when none is wanted, also what is removed already', () => {
    const { giveUp, remove, adopt, boot } = steps([ready(1), boots(2), leaves(3)], target(0));
    expect(giveUp.map(({ sandboxId: id }) => id).sort()).toEqual([idOf(1), idOf(2)]);
    expect([remove, adopt, boot]).toEqual([[idOf(3)], [], 0]);
  });

  it('comes to rest with exactly what is wanted, whatever it began with', () => {
    const one = fc.record({
      state: fc.constantFrom('booting', 'ready', 'leaving' as const),
      spec: fc.constantFrom('a', 'b'),
      age: fc.integer({ min: 0, max: 2 * MAX_AGE }),
      isUp: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 8 }), fc.integer({ min: 0, max: 6 }), (begin, size) => {
        const down = new Set(begin.flatMap(({ isUp }, index) => (isUp ? [] : [idOf(index)])));
        let held: readonly WarmSandbox[] = begin.map(({ state, spec, age }, index) => ({
          ...ready(index, age, { state, spec }),
          ...(state === 'booting' ? { bootedAt: null, reservedAt: NOW - age } : {}),
        }));
        let made = 100;
        for (let round = 0; round < 20; round += 1) {
          const presences = new Map(
            held.map(({ sandboxId: id }) => [id, down.has(id) ? 'down' : 'up'] as const),
          );
          const next = steps(held, { ...target(size), presences });
          expect(next.boot + next.adopt.length).toBeLessThanOrEqual(WARM_BOOTS_AT_ONCE);
          const given = new Set([...next.giveUp.map(({ sandboxId: id }) => id), ...next.remove]);
          const adopted = new Set(next.adopt);
          held = held
            .filter(({ sandboxId: id }) => !given.has(id))
            .map((kept) => {
              down.delete(adopted.has(kept.sandboxId) ? kept.sandboxId : idOf(9_999));
              return adopted.has(kept.sandboxId) ? { ...kept, state: 'ready', bootedAt: NOW } : kept;
            });
          for (let count = 0; count < next.boot; count += 1) {
            held = [...held, ready(made, 0)];
            made += 1;
          }
        }
        expect(held).toHaveLength(size);
        for (const kept of held) {
          expect(kept).toMatchObject({ state: 'ready', spec: 'a' });
          expect(NOW - (kept.bootedAt ?? 0)).toBeLessThan(MAX_AGE);
          expect(down.has(kept.sandboxId)).toBe(false);
        }
      }),
    );
  });
});
