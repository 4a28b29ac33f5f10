/** Instants as they go out: those of the language itself, whatever was written before. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isoInstant } from '../../api/application/wire.ts';

it('writes an instant as the language does', () => {
  const limit = 8.64e15;
  const near = fc.integer({ min: 0, max: 4e12 });
  const any = fc.double({ min: -limit, max: limit, noNaN: true });
  fc.assert(
    fc.property(fc.array(fc.oneof(near, any), { minLength: 1 }), (instants) => {
      for (const at of instants) expect(isoInstant(at)).toBe(new Date(at).toISOString());
    }),
    { numRuns: 2_000 },
  );
});

it.each([Number.NaN, Infinity, 8.64e15 + 1])('refuses %d, which is no instant', (at) => {
  expect(() => isoInstant(at)).toThrow(RangeError);
});
