/** The contract of starts that are on their way: one of several processes has each, and what is sealed is not taken back. */
import { describe, expect, it } from 'vitest';
import type { ConversationSpec } from '../../core/conversation/state.ts';
import { conversationId, userId } from '../../core/ids.ts';
import type { StartTask, StartTaskStore } from '../../ports/start-tasks.ts';
import type { OpenEmptyStore } from './store-harness.ts';

const ADA = userId('ada');
const QUEUED = { kind: 'queued', waitingMax: 100 } as const;

function task(index: number): StartTask {
  return {
    taskId: `task-${index}`,
    userId: ADA,
    conversationId: conversationId(`conversation-${index}`),
    createdAt: 1_000 + index,
    idempotencyKey: null,
    fingerprint: 'one',
    request: {},
    spec: { conversationId: conversationId(`conversation-${index}`) } as unknown as ConversationSpec,
  };
}

async function accepted(starts: StartTaskStore, count: number, leasedUntil: number): Promise<void> {
  for (let index = 0; index < count; index += 1)
    expect((await starts.accept(task(index), QUEUED, leasedUntil)).kind).toBe('kept');
}

const idsOf = (taken: Awaited<ReturnType<StartTaskStore['takeUndelivered']>>) =>
  taken.map(({ task: { taskId } }) => taskId);

export function startSuite(open: OpenEmptyStore): void {
  describe('starts on their way', () => {
    it('are whose process took them until the lease ends, oldest first', async () => {
      const { startTasks: starts } = await open();
      await accepted(starts, 3, 5_000);
      expect(await starts.takeUndelivered({ now: 4_999, until: 9_000, limit: 10 })).toEqual([]);
      expect(idsOf(await starts.takeUndelivered({ now: 5_000, until: 9_000, limit: 2 }))).toEqual([
        'task-0',
        'task-1',
      ]);
      expect(idsOf(await starts.takeUndelivered({ now: 8_999, until: 9_000, limit: 2 }))).toEqual(['task-2']);
      await starts.returnLease('task-1', 6_000);
      expect(idsOf(await starts.takeUndelivered({ now: 8_999, until: 9_000, limit: null }))).toEqual([
        'task-1',
      ]);
      await starts.markDelivered('task-0');
      await starts.returnLease('task-0', 0);
      expect(idsOf(await starts.takeUndelivered({ now: null, until: 9_000, limit: null }))).toEqual([
        'task-1',
        'task-2',
      ]);
    });

    it('go to one of many that ask at once', async () => {
      const { startTasks: starts } = await open();
      await accepted(starts, 40, 0);
      const asked = Array.from({ length: 8 }, () => starts.takeUndelivered({ now: 10, until: 99, limit: 6 }));
      const taken = (await Promise.all(asked)).flatMap(idsOf);
      expect(new Set(taken).size).toBe(taken.length);
      const rest = await starts.takeUndelivered({ now: 10, until: 99, limit: null });
      expect(new Set([...taken, ...idsOf(rest)]).size).toBe(40);
    });

    it('are sealed or abandoned, whichever comes first, and stay so', async () => {
      const { startTasks: starts } = await open();
      await accepted(starts, 2, 0);
      expect(await starts.stageOf('task-0')).toBe('accepted');
      expect(await starts.markSealed('task-0')).toBe(true);
      expect(await starts.abandon('task-0')).toBe(false);
      expect(await starts.markSealed('task-0')).toBe(true);
      expect(await starts.abandon('task-1')).toBe(true);
      expect(await starts.markSealed('task-1')).toBe(false);
      expect(await starts.abandon('task-1')).toBe(true);
      const taken = await starts.takeUndelivered({ now: null, until: 9, limit: null });
      expect(taken.map(({ stage }) => stage)).toEqual(['sealed', 'abandoned']);
      expect(await starts.markSealed('none')).toBe(false);
      expect(await starts.abandon('none')).toBe(false);
      expect(await starts.stageOf('none')).toBeNull();
    });

    it('were sealed when they were delivered, also by an older version', async () => {
      const { startTasks: starts } = await open();
      await accepted(starts, 1, 0);
      await starts.markDelivered('task-0');
      expect(await starts.stageOf('task-0')).toBe('sealed');
    });
  });
}
