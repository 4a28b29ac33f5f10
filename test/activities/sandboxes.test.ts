/** Starting, stopping, archiving and removing sandboxes: order, answers, and what a failure becomes. */
import { describe, expect, it } from 'vitest';
import { userId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { sandboxRow } from '../contract/store-rows.ts';
import { T0 } from '../engine/movable-clock.ts';
import {
  activityWorld,
  answerOf,
  attempt,
  CONVERSATION,
  inSandbox,
  RUN,
  SANDBOX,
  type ActivityWorld,
} from './activity-world.ts';
import { agentEvent } from './fake-agent.ts';

const INCARNATION = { id: 's#1', sandboxId: SANDBOX, generation: 3 } as const;
const unreachable = new ParleyError('runtime_unreachable', 'Cannot ask the runtime: timeout');

describe.each(['createSandbox', 'resumeSandbox'] as const)('%s', (type) => {
  const order = { ...INCARNATION, type, deadline: T0 + 600_000 } as const;

  it('brings up this generation with its own key, and counts as activity', async () => {
    const around = await activityWorld();
    expect(await answerOf(around, order)).toEqual({ type: 'sandboxReady', commandId: 's#1' });
    const sessionKey = around.world.keys.sessionKey(SANDBOX, 3);
    expect(around.runtime.started).toEqual([
      { sandboxId: SANDBOX, generation: 3, sessionKey, deadline: T0 + 600_000 },
    ]);
    expect(around.world.keys.sessionKey(SANDBOX, 2)).not.toBe(sessionKey);
    expect(await around.world.activity.lastActivityAt(SANDBOX)).toBe(T0);
  });

  it.each([{ transition: 'deleting' }, { status: 'MISSING' }] as const)(
    'refuses when somebody deletes it: %j',
    async (change) => {
      const around = await activityWorld();
      await around.world.records.project([sandboxRow(SANDBOX, change)]);
      expect(await answerOf(around, order)).toEqual({
        type: 'sandboxFailed',
        commandId: 's#1',
        reason: expect.stringContaining('being deleted'),
      });
      expect(around.runtime.started).toEqual([]);
    },
  );

  it.each([
    [
      new ParleyError('runtime_failed', 'Cannot start: no image'),
      { type: 'sandboxFailed', reason: 'Cannot start: no image' },
    ],
    [new ParleyError('stale_generation', 'Cannot start: 4 is up'), { type: 'sandboxFailed' }],
    [new ParleyError('runtime_gone', 'Cannot start: no storage'), { type: 'runtimeGone' }],
  ])('tells apart what failed: %s', async (error, answer) => {
    const around = await activityWorld();
    around.runtime.error = error;
    expect(await answerOf(around, order)).toMatchObject({ commandId: 's#1', ...answer });
  });

  it('is tried again while the runtime cannot be asked', async () => {
    const around = await activityWorld();
    around.runtime.error = unreachable;
    await expect(attempt(around, order)).rejects.toMatchObject({ code: 'runtime_unreachable', retry: true });
    around.runtime.error = null;
    expect(await attempt(around, order)).toMatchObject({ type: 'sandboxReady' });
  });
});

describe('stopSandbox', () => {
  const order = { ...INCARNATION, type: 'stopSandbox' } as const;

  it('reads the transcripts of its conversations before the agent goes', async () => {
    const around = await activityWorld();
    await inSandbox(around, { sandbox: { generation: 3 } });
    around.agent.pages = [[agentEvent('e1')]];
    const { stop } = around.runtime;
    let stored = -1;
    around.runtime.stop = async (target) => {
      stored = await around.world.events.count(CONVERSATION);
      return stop.call(around.runtime, target);
    };
    expect(await answerOf(around, order)).toEqual({ type: 'sandboxStopped', commandId: 's#1' });
    expect([stored, around.runtime.log]).toEqual([1, ['stop 3']]);
  });

  it('is not held up by an agent that is gone or silent', async () => {
    const around = await activityWorld();
    await inSandbox(around, { sandbox: { generation: 3 } });
    around.agent.error = new ParleyError('agent_unreachable', 'Cannot ask: down');
    expect(await answerOf(around, order)).toMatchObject({ type: 'sandboxStopped' });
    around.runtime.presences.clear();
    expect(await answerOf(around, order)).toMatchObject({ type: 'sandboxStopped' });
  });

  it('says when it could not be confirmed', async () => {
    const around = await activityWorld();
    around.runtime.error = unreachable;
    expect(await answerOf(around, order)).toEqual({
      type: 'stopFailed',
      commandId: 's#1',
      reason: unreachable.message,
    });
  });
});

describe('archiveWorkspace', () => {
  const order = { ...INCARNATION, type: 'archiveWorkspace' } as const;

  it('is durable and recorded before it answers', async () => {
    const around = await activityWorld();
    expect(await answerOf(around, order)).toEqual({ type: 'workspaceArchived', commandId: 's#1' });
    const [archive] = await around.world.archives.archives(SANDBOX);
    expect(archive).toEqual({
      generation: 3,
      blobKey: `archives/${SANDBOX}/3.tgz`,
      sha256: around.world.keys.sha256('ab'),
      bytes: 2,
      at: T0,
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await around.world.blobs.get(archive?.blobKey ?? '')) ?? [])
      chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('ab');
  });

  it.each([
    ['nothing was read', null, []],
    ['the runtime fails', new ParleyError('workspace_unreadable', 'Cannot read: disk'), ['a']],
  ] as const)('fails when %s, and leaves no record', async (_, error, workspace) => {
    const around = await activityWorld();
    around.runtime.error = error;
    around.runtime.workspace = workspace;
    expect(await answerOf(around, order)).toMatchObject({ type: 'archiveFailed', commandId: 's#1' });
    expect(await around.world.archives.archives(SANDBOX)).toEqual([]);
  });
});

describe('destroySandbox', () => {
  const order = { ...INCARNATION, type: 'destroySandbox' } as const;

  it('may be repeated, and says when it could not be confirmed', async () => {
    const around = await activityWorld();
    for (const _ of [1, 2])
      expect(await answerOf(around, order)).toEqual({ type: 'sandboxDestroyed', commandId: 's#1' });
    around.runtime.error = unreachable;
    expect(await answerOf(around, order)).toEqual({
      type: 'destroyFailed',
      commandId: 's#1',
      reason: unreachable.message,
    });
  });
});

describe('cleanUpSandbox', () => {
  const order = { type: 'cleanUpSandbox', id: 'r#1', runId: RUN, sandboxId: SANDBOX } as const;
  async function attachedBy(runId: typeof RUN | null): Promise<ActivityWorld> {
    const around = await activityWorld();
    const { placement, records, deployment } = around.world;
    const request = {
      conversationId: CONVERSATION,
      userId: userId('ada'),
      strategy: 'NO_GROUPING',
      sandboxId: SANDBOX,
    } as const;
    await inSandbox(around, { conversation: { runId } });
    await placement.place({
      ...request,
      excluded: [],
      newSandboxId: SANDBOX,
      limits: deployment.capacity,
      now: T0,
    });
    expect(await records.conversation(CONVERSATION)).toMatchObject({ runId });
    return around;
  }

  it.each([
    ['delete', { type: 'deleteRequested', requestId: 'r#1' }],
    ['pause', { type: 'pauseRequested', requestId: 'r#1', reason: 'user' }],
  ] as const)('asks a sandbox of this run alone to go: %s', async (how, event) => {
    const around = await attachedBy(RUN);
    expect(await answerOf(around, { ...order, how })).toEqual({
      type: 'sandboxCleanedUp',
      commandId: 'r#1',
      sandboxId: SANDBOX,
      isOurs: true,
    });
    expect(around.told).toEqual([{ to: { machine: 'sandbox', id: SANDBOX }, event }]);
  });

  it("leaves alone a sandbox with somebody else's conversation", async () => {
    const around = await attachedBy(null);
    expect(await answerOf(around, { ...order, how: 'delete' })).toMatchObject({ isOurs: false });
    expect(around.told).toEqual([]);
  });
});
