/** The drawing fits its width, and a cell shows what filled most of it. */
import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import { gantt } from '../../simulator/gantt.ts';
import type { SimulatedConversation } from '../../simulator/simulate-plan.ts';

const bar = (key: string, ...stretches: SimulatedConversation['stretches']): SimulatedConversation => ({
  key,
  attempts: 1,
  outcome: 'succeeded',
  detail: null,
  costNanoUsd: 0,
  stretches,
  met: [],
});

it('draws each stretch in its place', () => {
  const one = bar(
    'one',
    { from: 0, as: 'queued' },
    { from: HOUR_MS, as: 'starting' },
    { from: HOUR_MS + MINUTE_MS, as: 'working' },
    { from: 5 * HOUR_MS, as: 'paused' },
    { from: 8 * HOUR_MS, as: 'ended' },
  );
  expect(gantt({ conversations: [one], from: 0, until: 10 * HOUR_MS, width: 15 })).toEqual([
    '     0      10h',
    'one  .####---',
  ]);
});

it.each([30, 40, 80, 200])('fits %i characters', (width) => {
  const long = bar('a-key-that-is-longer-than-anybody-wants-to-read', { from: 0, as: 'working' });
  const lines = gantt({ conversations: [long], from: 0, until: 30 * HOUR_MS + MINUTE_MS, width });
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(Math.max(width, 36));
});
