/** Workers killed while 300 conversations are under way, and a server that goes away and comes back: the same final set. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { addressKey, runId, userId, type RunId } from '../../core/ids.ts';
import { RandomStream } from '../../simulator/random.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { replay } from '../../temporal/replay.ts';
import { RULES } from '../core/run-life.ts';
import { describeWith } from '../helpers/requires.ts';
import { seedsOf } from '../helpers/seeds.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { BUNDLE, wire, type Deployment } from './support/deployment.ts';
import { runsOf } from './support/histories.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';
import { WorkerFleet } from './support/worker-fleet.ts';
import { conversationOf, databaseOf, logOf } from './support/worker-process.ts';

installQuietRuntime();

const KILL_EVERY_MS = 5_000;
/** After so many kills the workers are left alone, so that the test ends on a slow machine, too. */
const KILLS_MAX = 12;
/** As many restarts of the server are enough, and each costs every worker its connection. */
const RESTARTS_MAX = 5;
const TEST_MS = 600_000;
/** Sooner than the test ends, so that its failure says how far the run came. */
const FINISHED_MS_MAX = 540_000;
const POLL_MS = 250;

interface Campaign {
  readonly run: RunId;
  readonly size: number;
  readonly folder: string;
  readonly store: Store;
  readonly deployment: Deployment;
  readonly fleet: WorkerFleet;
}

async function begin(server: DevServer, size: number, concurrency: number): Promise<Campaign> {
  const folder = tempDir();
  const store = await openStore({ kind: 'sqlite', path: databaseOf(folder) });
  onTestFinished(() => store.close());
  const deployment = await wire({ address: server.address, store });
  const { queue } = deployment;
  const fleet = new WorkerFleet({ address: server.address, queue, folder, bundlePath: BUNDLE });
  await Promise.all([fleet.add(), fleet.add()]);
  const run = runId(`r${randomBytes(8).toString('hex')}`);
  const items = Array.from({ length: size }, (_, index) => ({
    key: `k${index}`,
    priority: 0,
    hasVerify: false,
    workingMs: null,
  }));
  const rules = { ...RULES, concurrency, settleMs: null };
  const spec = { runId: run, userId: userId('u'), name: 'n', planHash: 'h', rules, items };
  await deployment.entities.requests.deliver({
    to: { machine: 'run', id: run },
    event: { type: 'runStarted', spec },
  });
  return { run, size, folder, store, deployment, fleet };
}

/** Disturbs again and again until the run has finished; at least once. */
async function disturbUntilFinished(
  { store, run }: Campaign,
  disturb: () => Promise<void>,
  everyMs: () => number,
): Promise<void> {
  const isFinished = async (): Promise<boolean> => (await store.records.run(run))?.phase === 'finished';
  const until = performance.now() + FINISHED_MS_MAX;
  for (let nextAt = performance.now() + everyMs(); !(await isFinished());) {
    if (performance.now() > until) {
      const { phase, inFlight, ended } = (await store.records.run(run)) ?? {};
      throw new Error(`The run does not finish: ${JSON.stringify({ phase, inFlight, ended })}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (performance.now() < nextAt) continue;
    await disturb();
    nextAt = performance.now() + everyMs();
  }
}

/** One command of the type for each of `subjects`, however often it was tried. */
function expectOneEach(lines: readonly string[], type: string, subjects: readonly (string | null)[]): void {
  const commands = new Set(lines.filter((line) => line.startsWith(`did ${type} `)));
  const done = [...commands].map((line) => line.split(' ')[3] ?? '');
  expect(done.sort()).toEqual([...subjects].sort());
}

/** Every conversation finished, each by one delivery, in one sandbox of its own that is gone. */
async function expectFinalSet({ store, run, size, folder, deployment }: Campaign): Promise<void> {
  const ids = Array.from({ length: size }, (_, index) => conversationOf(index));
  const row = await store.records.run(run);
  expect(row).toMatchObject({
    phase: 'finished',
    mode: 'normal',
    total: size,
    inFlight: 0,
    ended: { succeeded: size },
  });
  expect(row?.spentNanoUsd).toBe(size);
  const conversations = await store.records.conversations({ runId: run });
  expect(
    conversations.map((one) => [one.conversationId, one.executionStatus, one.queuedMessages]).sort(),
  ).toEqual(ids.map((id) => [id, 'FINISHED', 0]).sort());
  const sandboxes = await store.records.sandboxes();
  expect(sandboxes.map(({ sandboxId }) => sandboxId).sort()).toEqual(
    conversations.map(({ sandboxId }) => sandboxId).sort(),
  );
  expect(sandboxes.filter(({ status }) => status !== 'MISSING')).toEqual([]);
  const lines = readFileSync(logOf(folder), 'utf8').trim().split('\n');
  const used = sandboxes.map(({ sandboxId }) => sandboxId);
  // A try may be made twice; its command is one, so that a repeat can be recognized.
  expectOneEach(lines, 'deliverItem', ids);
  expectOneEach(lines, 'createSandbox', used);
  expectOneEach(lines, 'destroySandbox', used);
  // However its tasks were lost and taken anew, the next worker of the run finds the way that it went.
  const name = addressKey({ machine: 'run', id: run });
  const runs = await runsOf(deployment.client, name);
  const recorded = runs.map(({ history }) => ({ name, workflowId: name, history }));
  for await (const { problem } of replay({ workflowBundle: { codePath: BUNDLE } }, recorded))
    expect(problem).toBeNull();
}

describeWith('temporal', 'work on Temporal', () => {
  it(
    'is done once although a worker is killed every few seconds',
    async () => {
      const server = await startServerForTests();
      onTestFinished(() => server.stop());
      const campaign = await begin(server, 300, 100);
      const kill = async (): Promise<void> => {
        if (campaign.fleet.kills < KILLS_MAX) await campaign.fleet.replaceOldest();
      };
      await disturbUntilFinished(campaign, kill, () => KILL_EVERY_MS);

      await expectFinalSet(campaign);
      expect(campaign.fleet.kills).toBeGreaterThan(1);
    },
    TEST_MS,
  );

  it(
    'is done once although the server is killed and started again',
    async () => {
      const databaseFile = path.join(tempDir(), 'temporal.db');
      let server = await startServerForTests({ databaseFile });
      onTestFinished(() => server.stop());
      const port = Number(server.address.split(':')[1]);
      const random = new RandomStream(seedsOf('killed-workers').seed);
      let restarts = 0;
      const restart = async (): Promise<void> => {
        if (restarts >= RESTARTS_MAX) return;
        restarts += 1;
        process.kill(server.pid, 'SIGKILL');
        await server.ended;
        server = await startServerForTests({ databaseFile, port });
      };
      const campaign = await begin(server, 24, 12);
      await disturbUntilFinished(campaign, restart, () => 500 + random.next() * 2_000);

      await expectFinalSet(campaign);
      expect(restarts).toBeGreaterThan(0);
    },
    TEST_MS,
  );
});
