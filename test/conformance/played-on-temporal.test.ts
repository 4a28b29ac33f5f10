/** What is left out on Temporal is left out for a reason that holds, and something is played in its place. */
import { describe, expect, it } from 'vitest';
import { COINCIDENCES, playedOnTemporal, type Coincidence } from './played-on-temporal.ts';
import { playSimulated } from './play-simulated.ts';
import { SANDBOX_SCRIPTS } from './scripts-of-sandboxes.ts';
import { WORK_SCRIPTS } from './scripts-of-work.ts';

const SCRIPTS = [...SANDBOX_SCRIPTS, ...WORK_SCRIPTS];
const { played, leftOut } = playedOnTemporal(SCRIPTS);

/** The most steps of conversations by the event in one millisecond that order a message to such an entity. */
function timesAtOnce(name: string, { event, tells }: Coincidence['atOnce']): number {
  const script = SCRIPTS.find((one) => one.name === name);
  if (script === undefined) throw new Error(`there is no script "${name}"`);
  const times = new Map<number, number>();
  for (const [entity, steps] of playSimulated(script).traces.byEntity) {
    if (!entity.startsWith('conversation/')) continue;
    for (const { event: type, orders, atMs } of steps)
      if (type === event && orders.some((order) => order.startsWith(`tell ${tells}/`)))
        times.set(atMs, (times.get(atMs) ?? 0) + 1);
  }
  return Math.max(0, ...times.values());
}

describe('scripts that are not played on Temporal', () => {
  it('are those that the list names, and every other one is played', () => {
    expect(leftOut.map(({ name }) => name).sort()).toEqual([...COINCIDENCES.keys()].sort());
    expect(played.length).toBe(SCRIPTS.length - COINCIDENCES.size);
  });

  it.each([...COINCIDENCES])('%s: the coincidence is there, and not in what is played', (name, one) => {
    expect(played.map((script) => script.name)).toContain(one.instead);
    expect(timesAtOnce(name, one.atOnce)).toBe(one.atOnce.times);
    expect(timesAtOnce(one.instead, one.atOnce)).toBe(1);
  });
});
