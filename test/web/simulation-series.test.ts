/** A play as rows over its time, as the console draws and describes it. */
import { describe, expect, it } from 'vitest';
import {
  instantAt,
  instantsOf,
  limitSentences,
  slotSteps,
  stackedSteps,
} from '../../web/simulation/simulation-series.ts';

const at = (ms: number, queued: number, working: number, ended: number) => ({
  ...{ at_ms: ms, queued, starting: 0, working, paused: 0, ended },
});
const PLAY = {
  shown_until_ms: 100,
  activities: [at(0, 3, 0, 0), at(10, 1, 2, 0), at(60, 0, 1, 2), at(100, 0, 0, 3)],
  slots: [
    { at_ms: 0, value: 0 },
    { at_ms: 5, value: 2 },
    { at_ms: 150, value: 0 },
  ],
  sandboxes_peak: 2,
  sandboxes_max: 8,
};

describe('instantAt()', () => {
  it('tells what holds from the last step on', () => {
    const told = [0, 9, 10, 59, 60, 100, 500].map((ms) => {
      const { counts, slots } = instantAt(PLAY, ms);
      return [counts.queued, counts.working, counts.ended, slots];
    });
    expect(told).toEqual([
      [3, 0, 0, 0],
      [3, 0, 0, 2],
      [1, 2, 0, 2],
      [1, 2, 0, 2],
      [0, 1, 2, 2],
      [0, 0, 3, 2],
      [0, 0, 3, 0],
    ]);
  });

  it('takes the first step that is told for the beginning, and nobody where none is', () => {
    const late = { activities: [at(7, 3, 0, 0)], slots: [] };
    expect(instantAt(late, 0)).toMatchObject({ counts: { queued: 3 }, slots: 0 });
    expect(instantAt({ activities: [], slots: [] }, 0).counts).toMatchObject({ queued: 0, ended: 0 });
  });
});

it('instantsOf() has beginning and end, and no instant twice', () => {
  expect(instantsOf(PLAY, 5).map(({ atMs }) => atMs)).toEqual([0, 25, 50, 75, 100]);
  expect(instantsOf({ ...PLAY, shown_until_ms: 1 }, 21).map(({ atMs }) => atMs)).toEqual([0, 1]);
});

describe('stackedSteps()', () => {
  it('puts each row on those below it, and frames them', () => {
    expect(stackedSteps(PLAY)).toEqual({
      times: [0, 10, 60, 100],
      rows: [
        [0, 0, 2, 3],
        [0, 2, 3, 3],
        [0, 2, 3, 3],
        [0, 2, 3, 3],
        [3, 3, 3, 3],
      ],
    });
    const late = stackedSteps({ shown_until_ms: 50, activities: [at(7, 3, 0, 0), at(20, 2, 1, 0)] });
    expect([late.times, late.rows[4]]).toEqual([
      [0, 7, 20, 50],
      [3, 3, 3, 3],
    ]);
  });
});

describe('slotSteps()', () => {
  it('ends with the picture, and has the bound where it can be seen', () => {
    expect(slotSteps(PLAY)).toEqual({
      times: [0, 5, 100],
      rows: [
        [0, 2, 2],
        [8, 8, 8],
      ],
    });
    expect(slotSteps({ ...PLAY, sandboxes_max: 9 }).rows).toHaveLength(1);
  });
});

it('limitSentences() begins with what most meet, and keeps a word that it does not know', () => {
  expect(limitSentences({ met: { budget: 1, capacity: 1_500, rain: 2 } })).toEqual([
    `${(1_500).toLocaleString()} wait for a free sandbox`,
    '2 meet rain',
    '1 meet a budget',
  ]);
});
