/** The list of calls in flight: each leaves it once, wherever it stands. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OpenCalls, type OpenCall } from '../../proxy/relay/open-calls.ts';

function callOf(left: OpenCall[], calls: OpenCalls): OpenCall {
  const call: OpenCall = {
    place: 0,
    leave() {
      left.push(call);
      calls.remove(call);
    },
  };
  return call;
}

describe('OpenCalls', () => {
  it('holds those that were added and not removed, in any order of both', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 20 }), { maxLength: 60 }), (picks) => {
        const calls = new OpenCalls();
        const left: OpenCall[] = [];
        const open: OpenCall[] = [];
        for (const pick of picks) {
          const [ended] = pick < open.length ? open.splice(pick, 1) : [];
          if (ended !== undefined) {
            calls.remove(ended);
            continue;
          }
          const call = callOf(left, calls);
          open.push(call);
          calls.add(call);
        }
        expect(calls.size).toBe(open.length);
        calls.leaveAll();
        expect(new Set(left)).toEqual(new Set(open));
        expect(left).toHaveLength(open.length);
        expect(calls.size).toBe(0);
      }),
    );
  });
});
