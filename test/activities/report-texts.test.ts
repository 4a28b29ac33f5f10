/** What a report shows of the work of each item: bounded, without secrets; and the run before it. */
import { describe, expect, it } from 'vitest';
import { CHECK_LOG, checkLog } from '../../activities/check-log.ts';
import { PATCH_FILE } from '../../activities/collect/diff.ts';
import { secretScope } from '../../activities/redaction.ts';
import { gatherReport } from '../../activities/report/gather-report.ts';
import { appendEvents } from '../../activities/transcript.ts';
import { runId, userId } from '../../core/ids.ts';
import { failuresOf } from '../../report/failure.ts';
import { charactersShown, shownText } from '../../report/shown-text.ts';
import { runRow } from '../contract/store-rows.ts';
import { RUN, runUnderTest, START } from './reconcile-world.ts';
import { COMPLETE, HOSTILE, reportItem } from './report-data.ts';

const SECRET = 'hunter2-hunter2';

describe('gatherReport()', () => {
  it('has prompt, answer, diff and check of an item, with no secret in any of them', async () => {
    const test = await runUnderTest({ items: [{ key: 'a' }, { key: 'b', attempt: 0, phase: 'waiting' }] });
    const { world } = test;
    const conversation = test.conversation('a');
    await world.vault.put(secretScope(conversation), 'TOKEN', SECRET);
    const bytes = (text: string) => new TextEncoder().encode(text);
    const write = (name: string, text: string) =>
      world.results.write({ runId: RUN, key: 'a', name }, bytes(text));
    await write(PATCH_FILE, `+token = ${SECRET}\n`);
    await write(CHECK_LOG, checkLog(0, `it is ${SECRET}`));
    const says = (id: string, text: string) => ({
      ...{ id, timestamp: '2026-11-21T04:30:00.000', kind: 'MessageEvent', source: 'agent' },
      llm_message: { content: [{ type: 'text', text }] },
    });
    const quiet = Array.from({ length: 40 }, (_, index) => ({
      ...{ id: `q${index}`, timestamp: '2026-11-21T04:31:00.000', kind: 'Other', source: 'environment' },
    }));
    await appendEvents(world, conversation, [
      says('e1', 'first'),
      says('e2', `done with ${SECRET}`),
      ...quiet,
    ]);
    const { items } = await gatherReport(world, RUN);
    expect(items[0]).toMatchObject({
      prompt: { text: 'Do a.', cut: 0 },
      answer: { text: 'done with <secret-hidden>', cut: 0 },
      patch: { text: '+token = <secret-hidden>\n', cut: 0 },
      checkOutput: { text: 'exit code 0\nit is <secret-hidden>', cut: 0 },
    });
    expect(items[1]).toMatchObject({ prompt: { text: 'Do b.', cut: 0 }, answer: null, patch: null });
    expect(JSON.stringify(items)).not.toContain(SECRET);
  });

  it('names the run of the job before it, and none of another job, user or time', async () => {
    const { world } = await runUnderTest();
    expect((await gatherReport(world, RUN)).last).toBeNull();
    const { userId: own } = (await world.records.run(RUN)) ?? {};
    const past = (id: string, createdAt: number, changes: object = {}) =>
      runRow({
        ...{ runId: runId(id), name: 'first-batch', phase: 'finished', total: 4, inFlight: 0 },
        ...{ ended: { succeeded: 3, failed: 1 }, spentNanoUsd: 7, createdAt, endedAt: createdAt + 5_000 },
        ...(own === undefined ? {} : { userId: own }),
        ...changes,
      });
    await world.records.project([
      past('older', START - 90_000),
      past('last', START - 50_000),
      past('of-another-job', START - 40_000, { name: 'other' }),
      past('of-another-user', START - 40_000, { userId: userId('somebody-else') }),
      past('not-ended', START - 30_000, { endedAt: null }),
      past('later', START + 1),
    ]);
    expect((await gatherReport(world, RUN)).last).toEqual({
      ...{ runId: 'last', total: 4, succeeded: 3, spentNanoUsd: 7, durationMs: 5_000 },
    });
  });
});

describe('shownText()', () => {
  it('keeps the beginning or the end, counts the rest, and halves no character', () => {
    expect(shownText('abc', 3)).toEqual({ text: 'abc', cut: 0 });
    expect(shownText('abcdef', 4)).toEqual({ text: 'abcd', cut: 2 });
    expect(shownText('abcdef', 4, 'end')).toEqual({ text: 'cdef', cut: 2 });
    expect(shownText('ab😀', 3)).toEqual({ text: 'ab', cut: 2 });
    expect(shownText('😀ab', 3, 'end')).toEqual({ text: 'ab', cut: 2 });
  });

  it('has less room for each the more there are', () => {
    expect([0, 1, 10_000, 10_000_000].map(charactersShown)).toEqual([20_000, 20_000, 400, 100]);
  });
});

it('what was cancelled stands behind what failed, and what waits or was left out is no failure', () => {
  const as = (outcome: 'cancelled' | 'failed' | 'skipped' | 'waiting' | 'not_needed' | 'succeeded') =>
    reportItem(outcome, { outcome, failureClass: null, detail: null });
  const items = (['cancelled', 'skipped', 'failed', 'waiting', 'not_needed', 'succeeded'] as const).map(as);
  expect(failuresOf(items).map(({ key }) => key)).toEqual(['failed', 'cancelled']);
});

it('a failure says what failed, why, and the last of it', () => {
  const agent = COMPLETE.items.slice(2).map((item) => ({
    ...item,
    row: item.row && { ...item.row, failureClass: 'stuck' as const },
  }));
  expect(failuresOf([...COMPLETE.items, ...agent])).toMatchObject([
    {
      key: 'matrix/esm_entry/3.10',
      outcome: 'The agent finished, but the check of the job failed',
      reason: 'verify: exit code 1',
      part: 'check',
    },
    { key: 'hostile', outcome: 'Its sandbox, or what it runs on, failed', part: 'sandbox', lines: [] },
    { key: 'hostile', outcome: 'The agent made no more progress', part: 'agent', lines: HOSTILE.split('\n') },
  ]);
});
