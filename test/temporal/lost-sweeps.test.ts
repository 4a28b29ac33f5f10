/** Sweeps for lost workflows: one at a time, and a failure is reported once for as long as it lasts. */
import { expect, it } from 'vitest';
import { LostSweeps } from '../../temporal/lost-entities.ts';

type Sweep = (onFailed: (id: string, error: unknown) => void) => Promise<readonly string[]>;

function sweepsOf(sweep: Sweep): { readonly sweeps: LostSweeps; readonly told: string[] } {
  const told: string[] = [];
  const lost = { sweep: (onFailed = () => undefined) => sweep(onFailed) } as never;
  return { sweeps: new LostSweeps(lost, { leads: () => true, tell: (text) => told.push(text) }), told };
}

it('never sweeps twice at once, and waits for the last one at its end', async () => {
  let begun = 0;
  let end: (ids: readonly string[]) => void = () => undefined;
  const { sweeps, told } = sweepsOf(() => {
    begun += 1;
    return new Promise((resolve) => (end = resolve));
  });
  sweeps.start();
  const [first, second] = [sweeps.sweep(), sweeps.sweep()];
  expect([begun, first === second]).toEqual([1, true]);
  const stopped = sweeps.stop();
  end(['sandbox/a']);
  await stopped;
  expect(told).toEqual(['sandbox/a was ended from outside: its record says so, and what it had is let go']);
  void sweeps.sweep();
  expect(begun).toBe(2);
  end([]);
});

it('tells what fails at its first sight, and again once it went well between', async () => {
  let isAway = true;
  const { sweeps, told } = sweepsOf(() => (isAway ? Promise.reject(new Error('away')) : Promise.resolve([])));
  const text = 'Cannot look for workflows that were ended from outside: away';
  await sweeps.sweep();
  await sweeps.sweep();
  expect(told).toEqual([text]);
  isAway = false;
  await sweeps.sweep();
  isAway = true;
  await sweeps.sweep();
  expect(told).toEqual([text, text]);
});

it('tells one that cannot be let go, and lets the others go', async () => {
  const { sweeps, told } = sweepsOf((onFailed) => {
    onFailed('run/a', new Error('locked'));
    return Promise.resolve(['run/b']);
  });
  await sweeps.sweep();
  await sweeps.sweep();
  expect(told.filter((text) => text.startsWith('Cannot'))).toEqual(['Cannot let run/a go: locked']);
  expect(told.filter((text) => text.startsWith('run/b'))).toHaveLength(2);
});
