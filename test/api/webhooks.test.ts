/** Callbacks of Agent Servers over the real socket: which callers are accepted, and what a callback causes. */
import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { secretScope } from '../../activities/redaction.ts';
import { BODIES_MAX, BODIES_PER_SANDBOX_MAX, WebhookAdmission } from '../../api/webhook-routes.ts';
import { BODY_BYTES_MAX, startWebhookServer } from '../../api/webhook-server.ts';
import { messageRefusal } from '../../core/conversation/machine.ts';
import { hyphenatedUuid, sandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import {
  activityWorld,
  CONVERSATION,
  inSandbox,
  SANDBOX,
  type ActivityWorld,
} from '../activities/activity-world.ts';
import { agentEvent } from '../activities/fake-agent.ts';
import { T0 } from '../engine/movable-clock.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { callSocket, type SocketAnswer, type SocketCall } from './socket-call.ts';

const EVENTS = `/api/v1/webhooks/events/${CONVERSATION}`;
const CONVERSATIONS = '/api/v1/webhooks/conversations';
const SUCCESS: SocketAnswer = { status: 200, body: { success: true } };

interface Webhooks extends ActivityWorld {
  readonly socketPath: string;
  /** With the key of the generation that is up, unless another one is named. */
  call(
    call: Omit<SocketCall, 'socketPath' | 'headers'> & { readonly key?: string | null },
  ): Promise<SocketAnswer>;
  stored(): Promise<readonly unknown[]>;
}

async function webhooks(): Promise<Webhooks> {
  const around = await activityWorld();
  await inSandbox(around, { sandbox: { generation: 2 } });
  const socketPath = path.join(tempDir(), 'webhook.sock');
  // What a killed process left behind is no obstacle.
  writeFileSync(socketPath, '');
  const server = await startWebhookServer(around.world, socketPath, around.store.audit);
  onTestFinished(() => server.close());
  const own = around.world.keys.sessionKey(SANDBOX, 2);
  return {
    ...around,
    socketPath,
    call: ({ key = own, ...call }) =>
      callSocket({ socketPath, ...call, headers: key === null ? {} : { 'x-session-api-key': key } }),
    stored: async () =>
      (await around.world.events.events(CONVERSATION, { afterSequence: 0, limit: 100 })).map(
        ({ body }) => body,
      ),
  };
}

describe('who is heard', () => {
  it('takes the key of the present generation, with the id in either form', async () => {
    const hooks = await webhooks();
    const hyphenated = `/api/v1/webhooks/events/${hyphenatedUuid(CONVERSATION)}`;
    for (const [index, route] of [EVENTS, hyphenated].entries()) {
      expect(await hooks.call({ path: route, body: [agentEvent(`e${index}`)] })).toEqual(SUCCESS);
    }
    expect(await hooks.stored()).toHaveLength(2);
  });

  it.each(['an earlier generation', 'another sandbox', 'nothing', 'something else'])(
    'refuses the key of %s, on both routes',
    async (whose) => {
      const hooks = await webhooks();
      const { keys } = hooks.world;
      const key = {
        'an earlier generation': keys.sessionKey(SANDBOX, 1),
        'another sandbox': keys.sessionKey(hooks.world.keys.sandboxIdOf(CONVERSATION, 9), 2),
        nothing: null,
      }[whose];
      const bad = key === undefined ? 'sk-guess' : key;
      const unauthorized = { status: 401, body: { detail: 'Unauthorized', code: 'unauthorized' } };
      expect(await hooks.call({ path: EVENTS, body: [agentEvent('e1')], key: bad })).toEqual(unauthorized);
      expect(
        await hooks.call({
          path: CONVERSATIONS,
          body: { id: CONVERSATION, execution_status: 'finished' },
          key: bad,
        }),
      ).toEqual(unauthorized);
      expect([await hooks.stored(), hooks.told]).toEqual([[], []]);
    },
  );

  it('answers who has no key before a byte of the body', async () => {
    const { socketPath } = await webhooks();
    const head = `POST ${EVENTS} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
    const socket = connect(socketPath);
    onTestFinished(() => void socket.destroy());
    socket.write(`${head}content-length: 8000000\r\n\r\n[`);
    const [said] = (await once(socket, 'data')) as [Buffer];
    expect(said.toString()).toMatch(/^HTTP\/1.1 401 /);
  });

  it('takes so many batches of a sandbox at once, and of all', () => {
    const admission = new WebhookAdmission();
    const ids = Array.from({ length: 6 }, (_, index) => sandboxId(`${index}`.repeat(32)));
    const places = ids.map((id) => Array.from({ length: 25 }, () => admission.enter(id)));
    const taken = places.map((of) => of.filter((leave) => leave !== null).length);
    expect(taken).toEqual([20, 20, 20, 20, 20, 0]);
    for (const leave of places[0] ?? []) {
      leave?.();
      leave?.();
    }
    expect(admission.enter(sandboxId('5'.repeat(32)))).not.toBeNull();
    expect(BODIES_MAX).toBe(5 * BODIES_PER_SANDBOX_MAX);
  });

  it('answers success for a conversation that is unknown or deleted, and stores nothing', async () => {
    const hooks = await webhooks();
    const other = 'd'.repeat(32);
    expect(
      await hooks.call({ path: `/api/v1/webhooks/events/${other}`, body: [agentEvent('e1')], key: null }),
    ).toEqual(SUCCESS);
    expect(await hooks.call({ path: CONVERSATIONS, body: { id: other } })).toEqual(SUCCESS);
    await hooks.world.records.removeConversation(CONVERSATION);
    expect(await hooks.call({ path: EVENTS, body: [agentEvent('late')] })).toEqual(SUCCESS);
    expect(
      await hooks.call({ path: CONVERSATIONS, body: { id: CONVERSATION, execution_status: 'finished' } }),
    ).toEqual(SUCCESS);
    expect([await hooks.stored(), hooks.told]).toEqual([[], []]);
  });
});

describe('events', () => {
  it('are stored once each, in order, with secrets hidden', async () => {
    const hooks = await webhooks();
    await hooks.world.vault.put(secretScope(CONVERSATION), 'TOKEN', 'hunter2');
    const [first, second, third] = [
      agentEvent('e1', { text: 'is hunter2' }),
      agentEvent('e2'),
      agentEvent('e3'),
    ];
    expect(await hooks.call({ path: EVENTS, body: [first, second] })).toEqual(SUCCESS);
    expect(await hooks.call({ path: EVENTS, body: [second, first, third] })).toEqual(SUCCESS);
    expect(await hooks.stored()).toEqual([agentEvent('e1', { text: 'is <secret-hidden>' }), second, third]);
  });

  it('count as activity, but for mere state updates', async () => {
    const hooks = await webhooks();
    await hooks.call({ path: EVENTS, body: [agentEvent('e1', { kind: 'ConversationStateUpdateEvent' })] });
    expect(await hooks.world.activity.lastActivityAt(SANDBOX)).toBeNull();
    await hooks.call({ path: EVENTS, body: [agentEvent('e2')] });
    expect(await hooks.world.activity.lastActivityAt(SANDBOX)).toBe(T0);
  });

  it.each([[null], [{}], [[]], [[1, null, 'x', { id: 'no kind' }]]])(
    'that are none are passed over: %j',
    async (body) => {
      const hooks = await webhooks();
      expect(await hooks.call({ path: EVENTS, body })).toEqual(SUCCESS);
      expect(await hooks.stored()).toEqual([]);
    },
  );
});

describe('where a conversation stands', () => {
  it('is told to its machine with the generation of the sandbox', async () => {
    const hooks = await webhooks();
    expect(
      await hooks.call({ path: CONVERSATIONS, body: { id: CONVERSATION, execution_status: 'finished' } }),
    ).toEqual(SUCCESS);
    expect(hooks.told).toEqual([
      {
        to: { machine: 'conversation', id: CONVERSATION },
        event: {
          type: 'agentReported',
          commandId: null,
          report: expect.objectContaining({ status: 'FINISHED', at: T0 + 1, generation: 2 }),
        },
      },
    ]);
  });

  it('is nothing while it is being deleted, and an error when it cannot be read', async () => {
    const hooks = await webhooks();
    expect(
      await hooks.call({ path: CONVERSATIONS, body: { id: CONVERSATION, execution_status: 'deleting' } }),
    ).toEqual(SUCCESS);
    const odd = await hooks.call({
      path: CONVERSATIONS,
      body: { id: CONVERSATION, execution_status: 'odd' },
    });
    expect(odd).toEqual({ status: 502, body: { detail: expect.any(String), code: 'agent_refused' } });
    expect(hooks.told).toEqual([]);
  });

  it('is asked for again when it could not be kept', async () => {
    const hooks = await webhooks();
    hooks.world.notifier.deliver = () =>
      Promise.reject(new ParleyError('store_unavailable', 'Cannot commit: down'));
    const answer = await hooks.call({
      path: CONVERSATIONS,
      body: { id: CONVERSATION, execution_status: 'finished' },
    });
    expect(answer).toEqual({
      status: 503,
      body: { detail: 'Cannot commit: down', code: 'store_unavailable' },
    });
  });
});

describe('bodies and routes', () => {
  it('passes over a batch that is too large to be read, as one that was taken', async () => {
    const hooks = await webhooks();
    const large = { ...agentEvent('e1'), text: 'x'.repeat(BODY_BYTES_MAX) };
    // The server of OpenHands puts a refused batch before all that follows, and sends it again.
    expect(await hooks.call({ path: EVENTS, body: [large] })).toEqual(SUCCESS);
    expect(await hooks.stored()).toEqual([]);
    // After so many bytes a sender is refused for a while, and then accepted again.
    await expect.poll(() => hooks.call({ path: EVENTS, body: [agentEvent('e2')] })).toEqual(SUCCESS);
    expect(await hooks.stored()).toHaveLength(1);
  });

  it('refuses for good a body that is malformed', async () => {
    const hooks = await webhooks();
    // A definite refusal: the sender drops the batch and does not try it for ever.
    expect(await hooks.call({ path: EVENTS, body: '[{' })).toEqual({
      status: 422,
      body: { detail: expect.any(String), code: 'invalid_request' },
    });
    expect(await hooks.stored()).toEqual([]);
  });

  it('serves nothing else', async () => {
    const hooks = await webhooks();
    for (const route of ['/control', '/api/v1/webhooks', '/']) {
      expect(await hooks.call({ path: route, body: {} })).toEqual({
        status: 404,
        body: { detail: 'Not Found', code: 'not_found' },
      });
    }
  });
});

describe('what an edge answers to a message', () => {
  it.each([
    ['WORKING', null, 'sandbox_starting'],
    ['READY', 'ERROR', 'sandbox_error'],
    ['ERROR', 'RUNNING', 'sandbox_error'],
    ['READY', 'MISSING', 'sandbox_missing'],
    ['READY', 'PAUSED', null],
  ] as const)('start task %s, sandbox %s: %s', (startTask, sandboxStatus, code) => {
    expect(messageRefusal({ startTask, sandboxStatus })).toBe(code);
  });
});
