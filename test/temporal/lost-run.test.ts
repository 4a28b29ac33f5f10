/** A run whose workflow was ended by hand has an end in its record, and refuses further requests with that reason. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runId, userId, type RunId } from '../../core/ids.ts';
import type { RunRules } from '../../core/run/rules.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { ITEM, RULES } from '../core/run-life.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { deploy, type Deployment } from './support/deployment.ts';
import { eventually, SLOW_MS } from './support/eventually.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';
import { RUN_ENDS } from './support/run-ends.ts';

installQuietRuntime();

let server: DevServer;

/** No start of it is ever taken. */
function deployRefused(): Promise<Deployment> {
  return deploy({
    address: server.address,
    activities: {
      startConversation: ({ id: commandId, index }) =>
        ({ type: 'startRefused', commandId, index, reason: 'no such secret' }) as const,
      ...RUN_ENDS,
    },
  });
}

async function start(deployment: Deployment, id: RunId, count: number, more: Partial<RunRules> = {}) {
  const items = Array.from({ length: count }, (_, index) => ({ ...ITEM, key: `k${index}` }));
  const rules = { ...RULES, concurrency: 50, settleMs: null, ...more };
  const spec = { runId: id, userId: userId('u'), name: 'n', planHash: 'h', rules, items };
  await ask(deployment, id, { type: 'runStarted', spec });
}

async function ask({ entities }: Deployment, id: RunId, event: object): Promise<void> {
  await entities.requests.deliver({ to: { machine: 'run', id }, event: event as never });
}

const itemOf = async ({ store }: Deployment, id: RunId, key: string) => await store.records.runItem(id, key);

describeWith('temporal', 'the workflow of a run', () => {
  beforeAll(async () => {
    server = await startServerForTests();
  }, SLOW_MS);
  afterAll(() => server?.stop(), SLOW_MS);

  it(
    'that was ended by hand leaves a run that has ended, once',
    async () => {
      const deployment = await deployRefused();
      const id = runId('lost-run');
      const later = { initialMs: 3_600_000, factor: 1, maxMs: 3_600_000 };
      await start(deployment, id, 2, { retry: [{ on: ['infra', 'refused'], attempts: 1, ...later }] });
      await eventually(async () => (await itemOf(deployment, id, 'k1'))?.phase, 'waiting');
      await deployment.client.getHandle(`run/${id}`).terminate('by hand');
      await eventually(async () => (await deployment.lost.sweep()).includes(`run/${id}`), true);
      expect(await deployment.store.records.run(id)).toMatchObject({
        ...{ phase: 'finished', mode: 'cancelling', reason: 'workflow_lost' },
        ...{ waiting: 0, inFlight: 0, ended: { failed: 2 } },
      });
      expect(await itemOf(deployment, id, 'k0')).toMatchObject({
        ...{ phase: 'ended', outcome: 'failed', failureClass: 'infra' },
        detail: 'workflow_lost: its workflow was ended from outside',
      });
      const event = { type: 'requeueRequested', requestId: 'late', keys: ['k0'] };
      await expect(ask(deployment, id, event)).rejects.toMatchObject({ code: 'workflow_lost' });
      expect(await deployment.lost.sweep()).not.toContain(`run/${id}`);
    },
    SLOW_MS,
  );
});
