/** A clock that is set under a run on Temporal: an attempt keeps the time it has left, and its history replays. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addressOfCommand, conversationId, runId, userId, type RunId } from '../../core/ids.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { queryOf, replay, serverHistories } from '../../temporal/replay.ts';
import { CONVERSATION_SPEC } from '../core/conversation-life.ts';
import { ITEM, RULES } from '../core/run-life.ts';
import { reportOf } from '../engine/fake-activities.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { BUNDLE, deploy, type Deployment } from './support/deployment.ts';
import { eventually, SLOW_MS } from './support/eventually.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';
import { RUN_ENDS } from './support/run-ends.ts';

installQuietRuntime();

const DEADLINE_MS = 3_000;
const WORK_MS = 6_000;
const NIGHT_MS = 8 * 3_600_000;

let server: DevServer;

/** One item, which works for longer than its deadline by the clock of the server; the machine sleeps meanwhile, or not. */
async function batchOver(sleeps: boolean): Promise<Deployment & { readonly run: RunId }> {
  const run = runId(`sleeps-${sleeps}`);
  const late: { notices: Notifier | null; worksSince: number | null } = { notices: null, worksSince: null };
  const steady = (): number => performance.now() - (sleeps && late.worksSince !== null ? NIGHT_MS : 0);
  const deployment = await deploy({
    address: server.address,
    steadyClock: { name: 'this', steady },
    activities: {
      startConversation: async ({ id: commandId, index, key }) => {
        const id = conversationId(`${index}${Number(sleeps)}`.padStart(32, 'c'));
        const initialMessage = { messageId: 'first', text: 't', run: true };
        const own = { conversationId: id, runId: run, key, itemIndex: index, initialMessage };
        const spec = { ...CONVERSATION_SPEC, ...own };
        const event = { type: 'started', spec, watcher: addressOfCommand(commandId) } as const;
        await late.notices?.deliver({ to: { machine: 'conversation', id }, event });
        return { type: 'conversationStarted', commandId, index, conversationId: id };
      },
      ...RUN_ENDS,
    },
    polls: {
      watchAgent: ({ id: commandId, generation }) => {
        late.worksSince ??= Date.now();
        const now = Date.now();
        if (now < late.worksSince + WORK_MS) return { kind: 'again', at: now + 300, memory: null };
        const report = reportOf('FINISHED', now, generation);
        return { kind: 'over', event: { type: 'agentReported', commandId, report } };
      },
    },
  });
  late.notices = deployment.entities.notices;
  const rules = { ...RULES, settleMs: null, wait: { ...RULES.wait, deadlineMs: DEADLINE_MS } };
  const spec = { runId: run, userId: userId('u'), name: 'n', planHash: 'h', rules, items: [ITEM] };
  const to = { machine: 'run', id: run } as const;
  await deployment.entities.requests.deliver({ to, event: { type: 'runStarted', spec } });
  await eventually(async () => (await deployment.store.records.runItem(run, ITEM.key))?.phase, 'ended');
  return { ...deployment, run };
}

describeWith('temporal', 'a clock that is set', () => {
  beforeAll(async () => {
    server = await startServerForTests();
  }, SLOW_MS);
  afterAll(() => server?.stop(), SLOW_MS);

  it.each([
    ['ends an attempt that the machine slept through when it has had its time', true, 'succeeded'],
    ['ends one at its deadline where nobody slept', false, 'failed'],
  ] as const)(
    '%s',
    async (_says, sleeps, outcome) => {
      const { store, client, run } = await batchOver(sleeps);
      expect((await store.records.runItem(run, ITEM.key))?.outcome).toBe(outcome);
      for await (const { name, problem } of replay(
        { workflowBundle: { codePath: BUNDLE } },
        serverHistories(client, queryOf(`run/${run}`)),
      ))
        expect({ name, problem }).toEqual({ name, problem: null });
    },
    SLOW_MS,
  );
});
