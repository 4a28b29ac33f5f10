/** Setting a wall clock takes no time from work under way, and gives it none (D36): on both drivers, step by step. */
import { describe, expect, it } from 'vitest';
import type { RunItem } from '../../core/run/state.ts';
import { CLOCK_SCRIPTS, SHARDED_CLOCK_SCRIPTS } from './scripts-of-clocks.ts';
import { expectEqual } from './expect-equal.ts';
import { playEmbedded } from './play-embedded.ts';

const ALL = [...CLOCK_SCRIPTS, ...SHARDED_CLOCK_SCRIPTS].map((one) => ({ ...one, name: one.script.name }));

describe('a wall clock that is set', () => {
  it.each(ALL)('$name', async ({ script, outcome }) => {
    await expectEqual(script);
    const { byEntity } = await playEmbedded(script);
    const last = JSON.parse(byEntity.get('run/batch')?.at(-1)?.state ?? '{}') as { items: RunItem[] };
    expect(new Set(last.items.map((item) => item.ending?.outcome))).toEqual(new Set([outcome]));
  });
});
