/** Collecting once more: what is missing and needs no sandbox, and nothing else. */
import path from 'node:path';
import { expect, it } from 'vitest';
import { collectNow } from '../../activities/collect-now.ts';
import { secretScope } from '../../activities/redaction.ts';
import type { CollectStep } from '../../core/plan/plan.ts';
import { conversationRow } from '../contract/store-rows.ts';
import { RUN, runUnderTest, type RunUnderTest } from './reconcile-world.ts';

const COLLECT: readonly CollectStep[] = [{ kind: 'trajectory' }, { kind: 'diff' }, { kind: 'usage' }];

async function withConversation(items: Parameters<typeof runUnderTest>[0]): Promise<RunUnderTest> {
  const test = await runUnderTest(items);
  await test.world.records.project([conversationRow(test.conversation('a'), { runId: RUN, key: 'a' })]);
  return test;
}

const read = (test: RunUnderTest, key: string, name: string) =>
  test.world.results.read({ runId: RUN, key, name });

it('writes what is missing for ended items, once', async () => {
  const items = [{ key: 'a' }, { key: 'b', phase: 'working', endedAt: null } as const];
  const test = await withConversation({ plan: { collect: COLLECT }, items });
  await test.world.results.write({ runId: RUN, key: 'a', name: 'usage.json' }, new Uint8Array([1]));
  expect(await collectNow(test.world, RUN)).toEqual([path.join(test.folder, 'out', RUN, 'a/trajectory.zip')]);
  expect(await read(test, 'a', 'usage.json')).toHaveLength(1);
  expect(await read(test, 'b', 'usage.json')).toBeNull();
  expect(await collectNow(test.world, RUN)).toEqual([]);
});

it('makes no trajectory of a conversation that was deleted', async () => {
  const test = await runUnderTest({ plan: { collect: COLLECT }, items: [{ key: 'a' }] });
  expect(await collectNow(test.world, RUN)).toEqual([path.join(test.folder, 'out', RUN, 'a/usage.json')]);
});

it('leaves out what holds the value of a secret', async () => {
  const test = await withConversation({ plan: { collect: COLLECT }, items: [{ key: 'a' }] });
  const id = test.conversation('a');
  await test.world.vault.put(secretScope(id), 'TOKEN', 'hunter2-token');
  await test.world.events.append(
    id,
    [{ id: 'e1', timestamp: '2026', kind: 'MessageEvent', text: 'hunter2-token' }],
    1,
  );
  expect(await collectNow(test.world, RUN)).toEqual([path.join(test.folder, 'out', RUN, 'a/usage.json')]);
});

it('refuses a run that is not there', async () => {
  const test = await runUnderTest();
  await expect(collectNow(test.world, 'nobody' as typeof RUN)).rejects.toMatchObject({ code: 'not_found' });
});
