/** Connections that sandboxes share: which ones give way, and that no owner takes the share of another. */
import { EventEmitter } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConnectionShares, type ConnectionStrike } from '../../core/shares/connection-shares.ts';
import { HeldBytes } from '../../core/shares/held-bytes.ts';
import { createTurnstile } from '../../core/shares/turnstile.ts';
import { fuzzRuns } from '../helpers/fuzz-runs.ts';

class Connection extends EventEmitter {
  isOpen = true;
  destroy(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.emit('close');
  }
}

function shares(max: number, perOwnerMax: number) {
  const strikes: ConnectionStrike[] = [];
  return {
    strikes,
    shares: new ConnectionShares<Connection>({ max, perOwnerMax }, (one) => strikes.push(one)),
  };
}

describe('connections', () => {
  it('without a key: the oldest gives way, and whoever comes new is heard', () => {
    const { shares: all, strikes } = shares(8, 2);
    const opened = Array.from({ length: 6 }, () => new Connection());
    for (const one of opened) all.opened(one);
    expect(opened.map(({ isOpen }) => isOpen)).toEqual([false, false, true, true, true, true]);
    expect(strikes).toEqual(['no key', 'no key']);
  });

  it('with a key are counted for its owner, and a flood of one leaves room for the next', () => {
    const { shares: all, strikes } = shares(8, 2);
    const kept = ['a', 'a', 'a', 'b', 'c', 'd'].map((owner) => {
      const one = new Connection();
      all.opened(one);
      return all.belongsTo(one, owner);
    });
    expect(kept).toEqual([true, true, false, true, true, false]);
    expect(strikes).toEqual(['one owner', 'all']);
  });

  it('never are more than the bounds, whatever comes in what order', () => {
    const step = fc.tuple(
      fc.constantFrom('open', 'key', 'close'),
      fc.nat(20),
      fc.constantFrom('a', 'b', 'c'),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const { shares: all } = shares(10, 3);
        const open: Connection[] = [];
        for (const [verb, at, owner] of steps) {
          const one = open[at % Math.max(1, open.length)];
          if (verb === 'open') {
            const fresh = new Connection();
            open.push(fresh);
            all.opened(fresh);
          } else if (one !== undefined && verb === 'close') one.destroy();
          else if (one !== undefined && !all.belongsTo(one, owner)) one.destroy();
          expect(all.size).toBeLessThanOrEqual(10);
          expect(all.size).toBe(open.filter(({ isOpen }) => isOpen).length);
        }
        for (const one of open) one.destroy();
        expect(all.size).toBe(0);
      }),
      fuzzRuns(200),
    );
  });
});

describe('bytes', () => {
  it('are held for each owner and for all, and given back once', () => {
    const held = new HeldBytes({ max: 100, perOwnerMax: 60 });
    const [a, b] = [held.hold('a'), held.hold('b')];
    expect([a.take(40), a.take(21), a.take(20), b.take(41), b.take(40)]).toEqual([
      true,
      false,
      true,
      false,
      true,
    ]);
    a.release();
    a.release();
    expect([held.all, a.take(1), b.take(20)]).toEqual([40, false, true]);
    b.release();
    expect(held.all).toBe(0);
  });
});

describe('places', () => {
  it('are given in turn, but to nobody more than may be its own', () => {
    const turns = createTurnstile({ insideMax: 3, waitingMax: 8, perOwnerMax: 2 });
    const came: string[] = [];
    const leaves: (() => void)[] = [];
    const enter = (owner: string): boolean =>
      turns.enter(owner, (leave) => {
        came.push(owner);
        leaves.push(leave);
      });
    for (const owner of ['a', 'a', 'a', 'b']) enter(owner);
    expect(came).toEqual(['a', 'a', 'b']);
    const waits = Array.from({ length: 9 }, () => enter('a'));
    expect(waits).toEqual([...Array<boolean>(7).fill(true), false, false]);
    leaves[0]?.();
    leaves[0]?.();
    expect(came).toEqual(['a', 'a', 'b', 'a']);
    leaves[2]?.();
    expect(came).toEqual(['a', 'a', 'b', 'a']);
    expect(enter('b')).toBe(true);
    expect(came.at(-1)).toBe('b');
  });
});
