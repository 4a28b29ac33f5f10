/** Whose trouble it is: of an item's conversation, its sandbox, or its run on its behalf; and of the run itself. */
import { describe, expect, it } from 'vitest';
import { isCurrent, troubleOfItem, troubleOfRun } from '../../core/current-trouble.ts';
import type { TroubleOf } from '../../core/trouble.ts';
import { itemRow, runRow } from '../cli/rows.ts';

const CONVERSATION = 'c'.repeat(32);
const SANDBOX = '5'.repeat(32);
const run = runRow({});
const item = itemRow('one', {
  runId: run.runId,
  phase: 'working',
  outcome: null,
  conversationId: CONVERSATION as never,
  sandboxId: SANDBOX as never,
});

const of = (
  machine: TroubleOf['about']['machine'],
  id: string,
  change: Partial<TroubleOf> = {},
): TroubleOf => ({
  ...{ about: { machine, id }, item: null, what: 'model', cause: 'it is away' },
  ...{ since: 1_000, tries: 2, nextAt: 2_000 },
  ...change,
});
const shown = { what: 'model', cause: 'it is away', since: 1_000, tries: 2, nextAt: 2_000 };

describe('the trouble of an item', () => {
  it.each([
    ['its conversation’s', of('conversation', CONVERSATION)],
    ['its sandbox’s', of('sandbox', SANDBOX)],
    ['its run’s on its behalf', of('run', run.runId, { item: 'one' })],
  ])('is %s', (_, trouble) => {
    expect(troubleOfItem([trouble], item)).toEqual(shown);
  });

  it.each([
    ['another conversation’s', of('conversation', 'd'.repeat(32))],
    ['its run’s for another item', of('run', run.runId, { item: 'two' })],
    ['another run’s', of('run', 'run-2', { item: 'one' })],
  ])('is not %s', (_, trouble) => {
    expect(troubleOfItem([trouble], item)).toBeNull();
  });

  it('is the oldest of several, and none once it has ended', () => {
    const open = [of('sandbox', SANDBOX, { since: 1_500 }), of('conversation', CONVERSATION)];
    expect(troubleOfItem(open, item)?.since).toBe(1_000);
    expect(troubleOfItem(open, { ...item, phase: 'ended' })).toBeNull();
  });
});

describe('the trouble of a run', () => {
  it('is its own before that of its items, and none once it is finished', () => {
    const open = [
      of('conversation', CONVERSATION),
      of('run', run.runId, { what: 'reportRun', since: 9_000 }),
    ];
    const working = { ...run, phase: 'running' } as const;
    expect(troubleOfRun(open, working, [item])?.what).toBe('reportRun');
    expect(troubleOfRun(open.slice(0, 1), working, [item])).toEqual(shown);
    expect(troubleOfRun(open, { ...run, phase: 'finished' }, [item])).toBeNull();
  });
});

it('is not current when nobody has tried again for long', () => {
  expect(isCurrent(shown, shown.nextAt + 15 * 60_000)).toBe(true);
  expect(isCurrent(shown, shown.nextAt + 15 * 60_000 + 1)).toBe(false);
});
