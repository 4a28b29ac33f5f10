/** What becomes of commands on Temporal: batches, tries, slowness, cancellation and deadlines, on a real server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RetryPolicy } from '../../core/machine/retry.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { WORKER_SLOTS_DEFAULT } from '../../temporal/worker.ts';
import { moveOnSignal } from '../../workflows/envelope.ts';
import { beginLife, conversationAt, newStore, started } from '../engine/engine-harness.ts';
import { specOf, sandboxOf, untilCancelled, type Overrides, type Ran } from '../engine/fake-activities.ts';
import { until } from '../engine/movable-clock.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { deploy } from './support/deployment.ts';
import { eventually, SLOW_MS, untilConversation, untilEnded } from './support/eventually.ts';
import { runsOf } from './support/histories.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';

installQuietRuntime();

const READY = { startTask: 'READY', executionStatus: 'FINISHED' } as const;
const FAILED = { startTask: 'ERROR' } as const;
/** Waits that are over at once. */
const SWIFT: RetryPolicy = { initialMs: 5, maxMs: 20, attemptsMax: 4 };

let server: DevServer;

const attemptsOf = (ran: readonly Ran[], type: Ran['type']): readonly number[] =>
  ran.filter((one) => one.type === type).map(({ attempt }) => attempt);

const fail = (code: 'agent_unreachable' | 'repository_failed') => () =>
  Promise.reject(new ParleyError(code, 'Cannot go on: the test says so'));

/** Attempts of a command on the embedded engine, until the start has failed. */
async function embeddedAttempts(type: Ran['type'], overrides: Overrides): Promise<readonly number[]> {
  const store = await newStore();
  const life = await beginLife({ store, activities: overrides });
  await life.engine.deliver(started(1));
  await until(async () => {
    await life.clock.move(SWIFT.maxMs);
    return (await store.records.conversation(conversationAt(1)))?.startTask === 'ERROR';
  });
  return attemptsOf(life.ran, type);
}

describeWith('temporal', 'a command on Temporal', () => {
  beforeAll(async () => {
    server = await startServerForTests();
  }, SLOW_MS);
  afterAll(() => server?.stop(), SLOW_MS);

  it.each([
    ['prepareRepository', 'agent_unreachable', SWIFT],
    ['prepareRepository', 'repository_failed', SWIFT],
    ['placeConversation', 'agent_unreachable', SWIFT],
    ['placeConversation', 'agent_unreachable', { ...SWIFT, attemptsMax: 1 }],
    ['placeConversation', 'repository_failed', SWIFT],
  ] as const)(
    '%s is tried as often as by the embedded engine when it fails with %s',
    async (type, code, retry) => {
      const index = { prepareRepository: 20, placeConversation: 40 }[type] + (retry.attemptsMax ?? 0) * 2;
      const own = index + Number(code === 'repository_failed');
      const overrides: Overrides = { [type]: { retry, run: fail(code) } };
      const deployment = await deploy({ address: server.address, activities: overrides });
      await deployment.entities.requests.deliver(started(own));
      await untilConversation(deployment, conversationAt(own), FAILED);
      const expected = await embeddedAttempts(type, overrides);
      expect(attemptsOf(deployment.ran, type)).toEqual(expected);
      expect(deployment.failures.map(({ attempt, error }) => [attempt, error.code])).toEqual(
        expected.map((attempt) => [attempt, code]),
      );
    },
    SLOW_MS,
  );

  it(
    'that should be brief and is slow is handed out by itself',
    async () => {
      let tries = 0;
      const deployment = await deploy({
        address: server.address,
        activities: {
          placeConversation: ({ id: commandId, conversationId: id }) => {
            tries += 1;
            // Not even its signal stops the first try.
            if (tries === 1) return new Promise(() => undefined);
            return { type: 'placed', commandId, sandboxId: sandboxOf(id), spec: specOf(id) };
          },
        },
      });
      const begin = performance.now();
      await deployment.entities.requests.deliver(started(3));
      await untilConversation(deployment, conversationAt(3), READY);
      expect(performance.now() - begin).toBeLessThan(20_000);
      expect(attemptsOf(deployment.ran, 'placeConversation')).toEqual([0, 0]);
      const [run] = await runsOf(deployment.client, `conversation/${conversationAt(3)}`);
      const long = run?.history.events?.map(
        (event) => event.activityTaskScheduledEventAttributes?.taskQueue?.name ?? '',
      );
      expect(long).toContain(`${deployment.queue}-bookkeeping`);
    },
    SLOW_MS,
  );

  it(
    'that waits for its slot holds back nothing that was said with it, and never runs once cancelled',
    async () => {
      let boot = (): void => undefined;
      const booted = new Promise<void>((resolve) => (boot = resolve));
      const deployment = await deploy({
        address: server.address,
        slots: { ...WORKER_SLOTS_DEFAULT, sandbox: 1 },
        activities: {
          createSandbox: async ({ id: commandId }, context) => {
            await Promise.race([booted, untilCancelled(context)]);
            return { type: 'sandboxReady', commandId };
          },
        },
      });
      // The first one's boot takes the only slot; the second one's waits, but its answer to the conversation does not.
      await deployment.entities.requests.deliver(started(4));
      await eventually(() => deployment.idsOf('createSandbox').length, 1);
      await deployment.entities.requests.deliver(started(5));
      const second = `sandbox/${sandboxOf(conversationAt(5))}`;
      await eventually(async () => (await runsOf(deployment.client, second).catch(() => [])).length, 1);
      const answer = (): number =>
        deployment.sent.filter(
          ({ to, event }) => to.id === conversationAt(5) && event.type === 'attachAnswered',
        ).length;
      await eventually(answer, 1);
      await deployment.client.getHandle(second).cancel();
      const seen = async (): Promise<unknown> =>
        (await runsOf(deployment.client, second))[0]?.history.events?.filter(
          (one) => one.activityTaskCanceledEventAttributes,
        ).length;
      await eventually(seen, 1);
      boot();
      await untilConversation(deployment, conversationAt(5), { ...FAILED, sandboxStatus: 'MISSING' });
      expect(deployment.idsOf('createSandbox').length).toBe(1);
    },
    SLOW_MS,
  );

  it(
    'that is under way hears of its cancellation, and its late answer counts for nothing',
    async () => {
      const aborted: string[] = [];
      const deployment = await deploy({
        address: server.address,
        activities: {
          prepareRepository: async ({ id }, context) => {
            await untilCancelled(context);
            aborted.push(id);
            return { type: 'repositoryPrepared', commandId: id };
          },
        },
      });
      const id = conversationAt(6);
      await deployment.entities.requests.deliver(started(6));
      await eventually(() => deployment.idsOf('prepareRepository').length, 1);
      const event = { type: 'deleteRequested', requestId: 'r' } as const;
      await deployment.entities.requests.deliver({ to: { machine: 'conversation', id }, event });
      await untilEnded(deployment, `conversation/${id}`);
      await eventually(() => aborted, deployment.idsOf('prepareRepository'));
      expect(deployment.idsOf('runSetupScript')).toEqual([]);
    },
    SLOW_MS,
  );

  it(
    'follows from a deadline that a run of its workflow inherited, without any envelope',
    async () => {
      const id = conversationAt(7);
      const limits = { idleTimeMs: 1_200_000, deletionTimeMs: 2_500 };
      const deployment = await deploy({
        address: server.address,
        activities: {
          placeConversation: ({ id: commandId }) => {
            const spec = { ...specOf(id), limits };
            return { type: 'placed', commandId, sandboxId: sandboxOf(id), spec };
          },
        },
      });
      const workflow = `sandbox/${sandboxOf(id)}`;
      await deployment.entities.requests.deliver(started(7));
      await untilConversation(deployment, id, READY);
      const event = { type: 'pauseRequested', requestId: 'p', reason: 'user' } as const;
      await deployment.entities.requests.deliver({ to: { machine: 'sandbox', id: sandboxOf(id) }, event });
      await untilConversation(deployment, id, { sandboxStatus: 'PAUSED' });
      await deployment.client.getHandle(workflow).signal(moveOnSignal);
      await untilConversation(deployment, id, { sandboxStatus: 'MISSING' });
      const [, second] = await runsOf(deployment.client, workflow);
      const kinds = second?.history.events?.map((one) =>
        Object.keys(one).find((key) => key.endsWith('Attributes')),
      );
      expect(kinds).toContain('timerFiredEventAttributes');
      expect(kinds).not.toContain('workflowExecutionSignaledEventAttributes');
      expect(deployment.idsOf('destroySandbox').length).toBe(1);
    },
    SLOW_MS,
  );
});
