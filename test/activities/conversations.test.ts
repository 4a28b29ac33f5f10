/** Commands of a conversation to its agent, its removal, its record, and the check of its work. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { repositoryScope, secretScope } from '../../activities/redaction.ts';
import { userId } from '../../core/ids.ts';
import { agentOf } from '../../core/plan/plan-agent.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { QueuedItem } from '../../core/conversation/state.ts';
import { T0 } from '../engine/movable-clock.ts';
import {
  AGENT_ORDER,
  activityWorld,
  answerOf,
  attempt,
  CONVERSATION,
  inSandbox,
  RUN,
  SANDBOX,
  type ActivityWorld,
} from './activity-world.ts';
import { agentEvent, view } from './fake-agent.ts';
import { planWith } from './plan-rows.ts';

async function ready(): Promise<ActivityWorld> {
  const around = await activityWorld();
  await inSandbox(around);
  return around;
}

describe('openAgent', () => {
  const order = {
    ...AGENT_ORDER,
    type: 'openAgent',
    userId: userId('ada'),
    model: null,
    tags: { team: 'blue' },
    iterationsMax: 7,
    confirmation: 'risky',
  } as const;

  it('gives the agent its own proxy key, its secrets and its limits, and no other key', async () => {
    const around = await ready();
    await around.world.vault.put(secretScope(CONVERSATION), 'TOKEN', 'hunter2');
    await around.world.vault.put(repositoryScope(CONVERSATION), 'token', 'ghp_the_real_one');
    expect(await answerOf(around, order)).toMatchObject({
      type: 'agentOpened',
      report: { status: 'IDLE', generation: 1 },
    });
    expect(around.agent.opened).toEqual({
      conversationId: CONVERSATION,
      workingDir: around.workspaceDir,
      llm: {
        model: 'default',
        baseUrl: 'http://proxy.inside/v1',
        apiKey: around.world.keys.proxyKey(CONVERSATION, 1),
        extraHeaders: {},
        sessionHeader: 'x-proxyvendor-session-id',
      },
      secrets: { TOKEN: 'hunter2' },
      tags: { team: 'blue' },
      iterationsMax: 7,
      confirmation: 'risky',
      userId: 'ada',
    });
    expect(around.agent.calls[0]?.sessionKey).toBe(around.world.keys.sessionKey(SANDBOX, 1));
  });

  it('opens nothing with an agent that asks for nothing where somebody wants to be asked', async () => {
    const around = await ready();
    const codex = agentOf('codex', {});
    if (codex === null) throw new Error('there is no such preset');
    const deployment = { ...around.world.deployment, agent: codex };
    const world = { ...around.world, deployment };
    expect(await answerOf({ ...around, world }, order)).toMatchObject({
      type: 'stepFailed',
      code: 'invalid_request',
      reason: expect.stringContaining('"codex" acts without asking') as string,
    });
    expect(around.agent.opened).toBeNull();
    const unasked = { ...order, confirmation: 'never' } as const;
    expect(await answerOf({ ...around, world }, unasked)).toMatchObject({ type: 'agentOpened' });
  });

  it('fails the step with the code of the error', async () => {
    const around = await ready();
    around.agent.error = new ParleyError('agent_refused', 'Cannot open: no');
    expect(await answerOf(around, order)).toMatchObject({ type: 'stepFailed', code: 'agent_refused' });
  });
});

describe('deliverItem', () => {
  const deliver = (item: QueuedItem) => ({ ...AGENT_ORDER, type: 'deliverItem', item }) as const;
  const message: QueuedItem = { kind: 'message', itemId: 'm1', text: 'hi', run: true };
  const items: readonly (readonly [string, QueuedItem, readonly string[]])[] = [
    ['sendMessage', message, ['events']],
    ['answerConfirmation', { kind: 'confirmation', itemId: 'm2', accept: false, reason: 'no' }, []],
    ['run', { kind: 'continue', itemId: 'm3' }, []],
  ];
  it.each(items)('is a call of %s, and then a look at what came of it', async (name, item, after) => {
    const around = await ready();
    around.agent.view = view(CONVERSATION, { executionStatus: 'RUNNING', updatedAt: T0 + 1 });
    const answer = await answerOf(around, deliver(item));
    expect(answer).toMatchObject({
      type: 'itemDelivered',
      itemId: item.itemId,
      report: { status: 'RUNNING', at: T0 + 1 },
    });
    expect(around.agent.names()).toEqual([name, 'conversation', ...after]);
    expect(await around.world.activity.lastActivityAt(SANDBOX)).toBe(T0);
  });

  it('has not delivered a message that only its sandbox knows: it may be lost with it (D7)', async () => {
    const around = await ready();
    around.agent.view = view(CONVERSATION);
    around.agent.pages = [[agentEvent('m1', { source: 'user' })]];
    const { events } = around.agent;
    around.agent.events = () =>
      Promise.reject(new ParleyError('agent_unreachable', 'Cannot read events: the power is gone'));
    expect(await answerOf(around, deliver(message))).toMatchObject({ type: 'deliveryFailed', itemId: 'm1' });
    expect(await around.world.events.count(CONVERSATION)).toBe(0);
    around.agent.events = events;
    expect(await answerOf(around, deliver(message))).toMatchObject({ type: 'itemDelivered', itemId: 'm1' });
    expect(await around.world.events.count(CONVERSATION)).toBe(1);
  });

  it('names a message by the same id when it is repeated', async () => {
    const around = await ready();
    around.agent.view = view(CONVERSATION);
    for (const _ of [1, 2]) await answerOf(around, deliver(message));
    const ids = around.agent.calls.flatMap(({ name, about }) =>
      name === 'sendMessage' ? [(about as { messageId: string }).messageId] : [],
    );
    expect(ids).toEqual(Array(2).fill(around.world.keys.uuidOf('m1')));
  });

  it('fails for good where the agent does not know the conversation', async () => {
    const around = await ready();
    expect(await answerOf(around, deliver(message))).toMatchObject({ type: 'deliveryFailed', itemId: 'm1' });
  });
});

describe('interruptAgent and record', () => {
  it('answers an interruption even when nobody is there to interrupt', async () => {
    const around = await ready();
    const order = { ...AGENT_ORDER, type: 'interruptAgent' } as const;
    expect(await answerOf(around, order)).toEqual({ type: 'agentInterrupted', commandId: 'c#1' });
    around.runtime.presences.clear();
    expect(await answerOf(around, order)).toEqual({ type: 'agentInterrupted', commandId: 'c#1' });
    expect(around.agent.names()).toEqual(['interrupt']);
  });

  it('keeps what happened for the reader, and answers nothing', async () => {
    const around = await ready();
    const about = { machine: 'conversation', id: CONVERSATION } as const;
    const event = { about, conversationId: CONVERSATION, code: 'interrupted', detail: 'd' };
    expect(await answerOf(around, { type: 'record', id: 'c#2', event })).toBeNull();
    expect(await around.world.lifecycle.lifecycleEvents(CONVERSATION)).toMatchObject([{ ...event, at: T0 }]);
  });
});

describe('record', () => {
  it.each(['start_failed', 'message_refused'])('tells "%s" in the transcript, once', async (code) => {
    const around = await ready();
    const about = { machine: 'conversation', id: CONVERSATION } as const;
    const event = { about, conversationId: CONVERSATION, code, detail: 'm1: sandbox_error: no power' };
    for (const _ of [1, 2]) expect(await answerOf(around, { type: 'record', id: 'c#2', event })).toBeNull();
    const told = await around.world.events.events(CONVERSATION, { afterSequence: 0, limit: 10 });
    expect(told.map(({ body }) => body)).toMatchObject([
      { kind: 'ConversationErrorEvent', source: 'environment', code, detail: event.detail },
    ]);
    expect(await around.world.lifecycle.lifecycleEvents(CONVERSATION)).toEqual([]);
  });
});

describe('removeConversation', () => {
  const order = {
    type: 'removeConversation',
    id: 'c#1',
    conversationId: CONVERSATION,
    generation: 1,
  } as const;
  async function attached(): Promise<ActivityWorld> {
    const around = await ready();
    const { placement, deployment, events, vault } = around.world;
    const request = {
      conversationId: CONVERSATION,
      userId: userId('ada'),
      strategy: 'NO_GROUPING',
      sandboxId: SANDBOX,
    } as const;
    await placement.place({
      ...request,
      excluded: [],
      newSandboxId: SANDBOX,
      limits: deployment.capacity,
      now: T0,
    });
    await events.append(CONVERSATION, [agentEvent('e1')], T0);
    await vault.put(secretScope(CONVERSATION), 'TOKEN', 'hunter2');
    await vault.put(repositoryScope(CONVERSATION), 'token', 'ghp');
    return around;
  }

  it('removes record, transcript and every secret, and leaves a tombstone', async () => {
    const around = await attached();
    expect(await answerOf(around, order)).toEqual({
      type: 'conversationRemoved',
      commandId: 'c#1',
      sandboxToRemove: true,
    });
    const { records, events, vault } = around.world;
    expect([await records.conversation(CONVERSATION), await events.count(CONVERSATION)]).toEqual([null, 0]);
    expect([
      await vault.names(secretScope(CONVERSATION)),
      await vault.names(repositoryScope(CONVERSATION)),
    ]).toEqual([[], []]);
    expect(await events.append(CONVERSATION, [agentEvent('late')], T0)).toBe(0);
    // The sandbox goes with its files: the agent need not forget.
    expect(around.agent.calls).toEqual([]);
  });

  it('gives the same answer when it is repeated', async () => {
    const around = await attached();
    const first = await answerOf(around, order);
    expect(await answerOf(around, order)).toEqual(first);
  });

  it('lets the agent forget it in a sandbox that stays, reachable or not', async () => {
    const around = await ready();
    expect(await answerOf(around, order)).toMatchObject({ sandboxToRemove: false });
    expect(around.agent.names()).toEqual(['deleteConversation']);
    const down = await ready();
    down.agent.error = new ParleyError('agent_unreachable', 'Cannot ask: down');
    expect(await answerOf(down, order)).toMatchObject({ type: 'conversationRemoved' });
    expect(await down.world.records.conversation(CONVERSATION)).toBeNull();
  });
});

describe('verifyItem', () => {
  const ids = {
    id: 'run#2',
    runId: RUN,
    index: 0,
    key: 'one',
    attempt: 1,
    conversationId: CONVERSATION,
    sandboxId: SANDBOX,
  } as const;
  const order = { type: 'verifyItem', ...ids } as const;
  async function judging(judged: Parameters<typeof planWith>[0]): Promise<ActivityWorld> {
    const around = await ready();
    await around.world.vault.put(secretScope(CONVERSATION), 'TOKEN', 'hunter2');
    await around.world.plans.putPlan(RUN, planWith(judged));
    return around;
  }
  const checking = (command: string | null): Promise<ActivityWorld> =>
    judging({ verify: command === null ? null : { command, timeoutMs: 5_000 } });
  const log = ({ resultsDir }: ActivityWorld): string =>
    readFileSync(path.join(resultsDir, RUN, 'one/verify.log'), 'utf8');

  it.each([
    ['true', true, null],
    ['exit 7', false, 'verify: exit code 7'],
  ])('says what the check said: %s', async (command, passed, detail) => {
    expect(await attempt(await checking(command), order)).toMatchObject({
      type: 'itemVerified',
      index: 0,
      passed,
      detail,
    });
  });

  it.each(['MISSING', 'ERROR'] as const)('says how the sandbox was found: %s', async (status) => {
    const around = await checking('true');
    await inSandbox(around, { sandbox: { status, detail: 'host_lost', sequence: 2 } });
    expect(await attempt(around, order)).toEqual({
      type: 'verifyFailed',
      commandId: order.id,
      index: 0,
      reason: `the sandbox is ${status}`,
      lost: { status, detail: 'host_lost' },
    });
  });

  it('has a released sandbox resumed first, and is tried again until it is up', async () => {
    const around = await checking('true');
    await inSandbox(around, { sandbox: { status: 'PAUSED', releasedAt: T0, sequence: 2 } });
    for (const waitMs of [0, 1_000, 60_000]) {
      await around.clock.move(waitMs);
      await expect(attempt(around, order)).rejects.toMatchObject({ code: 'sandbox_resuming', retry: true });
    }
    const requests = around.told.map(({ event }) => (event as { readonly requestId: string }).requestId);
    expect([new Set(requests).size, around.told[0]]).toEqual([
      2,
      expect.objectContaining({
        to: { machine: 'conversation', id: CONVERSATION },
        event: expect.objectContaining({ type: 'accessRequested' }),
      }),
    ]);
  });

  it('waits for a sandbox that is on its way up, and requests nothing', async () => {
    const around = await checking('true');
    const sandbox = { status: 'PAUSED', transition: 'resuming', releasedAt: T0, sequence: 2 } as const;
    await inSandbox(around, { sandbox });
    await expect(attempt(around, order)).rejects.toMatchObject({ code: 'sandbox_starting', retry: true });
    expect(around.told).toEqual([]);
  });

  it('says in the end why the resume failed', async () => {
    const around = await checking('true');
    const sandbox = { status: 'PAUSED', releasedAt: T0, detail: 'no such image', sequence: 2 } as const;
    await inSandbox(around, { sandbox });
    expect(await answerOf(around, order)).toMatchObject({
      type: 'verifyFailed',
      reason: expect.stringMatching(/^sandbox_resuming: .*no such image$/),
    });
  });

  it('runs in the workspace, and keeps what was printed without secrets', async () => {
    const around = await checking('cat made; echo hunter2');
    writeFileSync(path.join(around.folder, 'made'), '');
    await around.world.workspaces.putFacts(CONVERSATION, { workingDir: around.folder, baseCommit: null });
    expect(await answerOf(around, order)).toMatchObject({ passed: true });
    expect(log(around)).toBe('exit code 0\n<secret-hidden>\n\n');
  });

  it('says so when the check does not end', async () => {
    const around = await checking('sleep infinity');
    around.agent.execute = () => Promise.resolve({ exitCode: -1, stdout: '', stderr: '' });
    const detail = 'verify: no end within 5 s';
    expect(await attempt(around, order)).toMatchObject({ type: 'itemVerified', passed: false, detail });
  });

  it.each([
    ['exit 7', /^disk_full: the disk of the sandbox was full while the agent worked; verify: exit code 7$/],
    ['true', null],
  ])(
    'gives no verdict on what a full disk may have taken, unless all is there: %s',
    async (command, reason) => {
      const around = await checking(command);
      around.agent.view = view(CONVERSATION, { executionStatus: 'FINISHED', diskWasFull: true });
      expect(await answerOf(around, order)).toMatchObject(
        reason === null
          ? { type: 'itemVerified', passed: true }
          : { type: 'verifyFailed', reason: expect.stringMatching(reason) },
      );
    },
  );

  it('passes without a check, and gives no verdict when it cannot be run', async () => {
    const around = await checking(null);
    expect(await answerOf(around, order)).toMatchObject({ passed: true });
    expect(existsSync(path.join(around.resultsDir, RUN))).toBe(false);
    const down = await checking('true');
    down.runtime.presences.clear();
    expect(await answerOf(down, order)).toMatchObject({
      type: 'verifyFailed',
      reason: expect.stringMatching(/^runtime_gone: /),
    });
  });

  it('measures after the check, whatever it said, and keeps each number', async () => {
    const score = (name: string, command: string, bounds = {}) => ({
      name,
      command,
      timeoutMs: 5_000,
      ...bounds,
    });
    const scores = [
      score('coverage', 'echo from 9; echo 79.5%', { atLeast: 80 }),
      score('size', 'echo noise >&2; echo 12', { atMost: 12 }),
      score('none', 'echo hunter2'),
      score('broken', 'echo 5; exit 3'),
    ];
    const around = await judging({ verify: { command: 'exit 7', timeoutMs: 5_000 }, scores });
    const said = [
      'verify: exit code 7',
      'score coverage: 79.5 is less than 80',
      'score none: its last line is no number: "<secret-hidden>"',
      'score broken: exit code 3',
    ];
    expect(await attempt(around, order)).toMatchObject({ passed: false, detail: said.join('; ') });
    const kept = JSON.parse(
      readFileSync(path.join(around.resultsDir, RUN, 'one/scores.json'), 'utf8'),
    ) as unknown;
    expect(kept).toMatchObject({
      format: 1,
      scores: [{ value: 79.5, at_least: 80 }, { value: 12, problem: null }, { value: null }, { value: null }],
    });
    const good = await judging({ scores: [score('size', 'echo 3')] });
    expect(await attempt(good, order)).toMatchObject({ passed: true, detail: null });
  });
});
