/** A finished run keeps no workflow open, whatever its items came to, nor do its shards; a request resumes it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addressOfCommand, conversationId, runId, userId, type RunId } from '../../core/ids.ts';
import type { RunEvent } from '../../core/run/message.ts';
import type { RunRules } from '../../core/run/rules.ts';
import type { Delivery } from '../../ports/notifier.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { replay, serverHistories } from '../../temporal/replay.ts';
import { CONVERSATION_SPEC } from '../core/conversation-life.ts';
import { ITEM, RULES } from '../core/run-life.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { BUNDLE, wire, type Deployment } from './support/deployment.ts';
import { eventually, SLOW_MS } from './support/eventually.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';
import { RUN_ENDS } from './support/run-ends.ts';

installQuietRuntime();

/** Every so many of the items come to life, and succeed; the others are refused, which is a failure. */
const ALIVE_EVERY = 25;

interface Scene {
  readonly deployment: Deployment;
  readonly id: RunId;
  readonly keys: readonly string[];
  /** What becomes of the other items from now on. */
  become: (what: Fate) => void;
}

/** `lives`: comes to life, and succeeds; `silent`: never reports anything. */
type Fate = 'refused' | 'lives' | 'silent';

let server: DevServer;

/** Workflows of the deployment that are open, by id. */
async function openIn({ client, queue }: Deployment): Promise<readonly string[]> {
  const ids: string[] = [];
  const query = `TaskQueue = '${queue}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of client.list({ query })) ids.push(workflowId);
  return ids;
}

/** A server has one life for an id. */
const conversationOf = (run: RunId, index: number, attempt: number) =>
  conversationId(`${run.slice(-2)}${attempt}f${index}`.padStart(32, '0'));

async function sceneOf(id: RunId, count: number): Promise<Scene> {
  const late: { entities: Deployment['entities'] | null; fate: Fate } = { entities: null, fate: 'refused' };
  const deliver = async (delivery: Delivery): Promise<void> => late.entities?.notices.deliver(delivery);
  const deployment = await wire({
    address: server.address,
    activities: {
      startConversation: async ({ id: commandId, runId: run, index, key, attempt }) => {
        const fate = index % ALIVE_EVERY === 0 ? 'lives' : late.fate;
        if (fate === 'refused') return { type: 'startRefused', commandId, index, reason: 'no' };
        const own = conversationOf(run, index, attempt);
        const answer = { type: 'conversationStarted', commandId, index, conversationId: own } as const;
        if (fate === 'silent') return answer;
        const initialMessage = { messageId: `first-${own}`, text: 't', run: true };
        const spec = {
          ...CONVERSATION_SPEC,
          conversationId: own,
          runId: run,
          key,
          itemIndex: index,
          initialMessage,
        };
        const event = { type: 'started', spec, watcher: addressOfCommand(commandId) } as const;
        await deliver({ to: { machine: 'conversation', id: own }, event });
        return answer;
      },
      ...RUN_ENDS,
      cleanUpSandbox: async ({ id: commandId, sandboxId }) => {
        const event = { type: 'deleteRequested', requestId: commandId } as const;
        await deliver({ to: { machine: 'sandbox', id: sandboxId }, event });
        return { type: 'sandboxCleanedUp', commandId, sandboxId, isOurs: true };
      },
    },
  });
  late.entities = deployment.entities;
  const keys = Array.from({ length: count }, (_, index) => `k${index}`);
  return { deployment, id, keys, become: (what) => void (late.fate = what) };
}

async function begin({ deployment, id, keys }: Scene, rules: Partial<RunRules>): Promise<void> {
  const spec = {
    runId: id,
    userId: userId('u'),
    name: 'n',
    planHash: 'h',
    rules: { ...RULES, concurrency: 50, settleMs: null, ...rules },
    items: keys.map((key) => ({ ...ITEM, key })),
  };
  await ask({ deployment, id }, { type: 'runStarted', spec });
}

const ask = ({ deployment, id }: Pick<Scene, 'deployment' | 'id'>, event: RunEvent): Promise<void> =>
  deployment.entities.requests.deliver({ to: { machine: 'run', id }, event });

async function untilFinishedWith({ deployment, id, keys }: Scene, succeeded: number): Promise<void> {
  const failed = keys.length - succeeded;
  const ended = { succeeded, ...(failed === 0 ? {} : { failed }) };
  await eventually(
    async () => {
      const row = await deployment.store.records.run(id);
      return { phase: row?.phase, ended: row?.ended };
    },
    { phase: 'finished', ended },
  );
  await eventually(() => openIn(deployment), []);
}

/** To where its last task ended: what the history knows behind it is forgotten. */
async function resetToLastTask({ client }: Deployment, workflowId: string): Promise<void> {
  const { runId: own } = await client.getHandle(workflowId).describe();
  const { events } = await client.getHandle(workflowId).fetchHistory();
  const last = events?.findLast((event) => event.workflowTaskCompletedEventAttributes != null);
  await client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId, runId: own },
    workflowTaskFinishEventId: last?.eventId ?? null,
    requestId: randomUUID(),
    reason: 'set back by a test',
  });
}

async function problemsIn({ client, queue }: Deployment): Promise<readonly string[]> {
  const problems: string[] = [];
  const query = `TaskQueue = '${queue}' AND WorkflowType IN ('run', 'shard')`;
  const histories = serverHistories(client, query);
  for await (const { workflowId, problem } of replay({ workflowBundle: { codePath: BUNDLE } }, histories))
    if (problem !== null) problems.push(`${workflowId}: ${problem}`);
  return problems;
}

describeWith('temporal', 'a run that has finished', () => {
  beforeAll(async () => {
    server = await startServerForTests();
  }, SLOW_MS);
  afterAll(() => server?.stop(), SLOW_MS);

  it.each([
    ['run-aa', 6, {}],
    ['run-bb', 501, { shardItems: 500, shardsRest: true }],
  ] as const)(
    '%s of %i items, most of them failures, has no workflow, and has one for whoever takes it up',
    async (name, count, rules) => {
      const scene = await sceneOf(runId(name), count);
      const { deployment, id } = scene;
      const alive = Math.ceil(count / ALIVE_EVERY);
      const workers = await deployment.startWorkers();
      await begin(scene, rules);
      await untilFinishedWith(scene, alive);

      await workers.stop();
      await deployment.startWorkers();
      scene.become('lives');
      const keys = ['k1', 'k2'];
      const requeue = { type: 'requeueRequested', requestId: 'again', keys } as const;
      await ask(scene, requeue);
      await untilFinishedWith(scene, alive + 2);
      const attempts = deployment.idsOf('startConversation').length;
      // What changes nothing begins nothing: neither a repeat, nor what a finished run does not heed.
      await ask(scene, requeue);
      await ask(scene, { type: 'cancelRequested', requestId: 'late' });
      await ask(scene, { type: 'resumeRequested', requestId: 'none', classes: [] });
      await untilFinishedWith(scene, alive + 2);
      expect(deployment.idsOf('startConversation').length).toBe(attempts);

      await resetToLastTask(deployment, `run/${id}`);
      await untilFinishedWith(scene, alive + 2);
      expect(await deployment.store.engine.load({ machine: 'run', id })).toMatchObject({ done: true });
      expect(await problemsIn(deployment)).toEqual([]);
      expect(deployment.failures).toEqual([]);
    },
    2 * SLOW_MS,
  );

  it(
    'is lost like any other when its workflow is ended from outside after it was taken up',
    async () => {
      const scene = await sceneOf(runId('run-cc'), 3);
      const { deployment, id } = scene;
      const { client, lost, store } = deployment;
      const address = { machine: 'run', id } as const;
      await deployment.startWorkers();
      await begin(scene, {});
      await untilFinishedWith(scene, 1);
      expect(await lost.mend(address)).toBe(false);
      scene.become('silent');
      await ask(scene, { type: 'requeueRequested', requestId: 'again', keys: ['k1'] });
      await eventually(async () => (await store.records.run(id))?.inFlight, 1);
      await client.getHandle(`run/${id}`).terminate('by a test');
      expect(await lost.mend(address)).toBe(true);
      expect(await store.records.run(id)).toMatchObject({ phase: 'finished', reason: 'workflow_lost' });
    },
    SLOW_MS,
  );
});
