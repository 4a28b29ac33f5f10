/** A new build of the workers takes over from an old one under open conversations, on a real server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { findBuilds } from '../../temporal/versioning/builds.ts';
import { drain, type DrainProgress } from '../../temporal/versioning/drain.ts';
import { promote, promoteFirst } from '../../temporal/versioning/promote.ts';
import { conversationAt, message, started } from '../engine/engine-harness.ts';
import { reportOf, sandboxOf } from '../engine/fake-activities.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { openCluster, type BuiltWorkers, type Cluster } from './support/builds.ts';
import { eventually, SLOW_MS, untilConversation } from './support/eventually.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';
import type { Looks } from './support/watching-fakes.ts';

installQuietRuntime();

const CONVERSATIONS = 50;
/** Every second agent still works while the builds change places. */
const BUSY_EVERY = 2;
const FINISHED = { startTask: 'READY', executionStatus: 'FINISHED', queuedMessages: 0 } as const;
const INDICES = Array.from({ length: CONVERSATIONS }, (_, at) => at + 1);
const isBusy = (index: number): boolean => index % BUSY_EVERY === 0;
const idOf = new Map(INDICES.map((index) => [conversationAt(index), index]));

let server: DevServer;

/** Agents that work until they are let go. */
function agents(): { readonly polls: Looks; letGo(): void } {
  let areHeld = true;
  return {
    letGo: () => void (areHeld = false),
    polls: {
      watchAgent: ({ id, conversationId, generation }) => {
        const now = Date.now();
        if (areHeld && isBusy(idOf.get(conversationId) ?? 0))
          return { kind: 'again', at: now + 2_000, memory: null };
        const report = reportOf('FINISHED', now, generation);
        return { kind: 'over', event: { type: 'agentReported', commandId: id, report } };
      },
    },
  };
}

const at = ({ connection }: Cluster) => ({ connection, namespace: 'default' });
const workflowIds = INDICES.flatMap((index) => [
  `conversation/${conversationAt(index)}`,
  `sandbox/${sandboxOf(conversationAt(index))}`,
]);

/** The build of an entity's open run, as the server describes it. */
async function buildOf({ client }: Cluster, workflowId: string): Promise<unknown> {
  const { raw, status } = await client.getHandle(workflowId).describe();
  const build = raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
  return `${status.name} ${build ?? 'on no build'}`;
}

async function startAll(cluster: Cluster, old: BuiltWorkers): Promise<void> {
  await Promise.all(INDICES.map((index) => cluster.entities.requests.deliver(started(index))));
  for (const index of INDICES) {
    const executionStatus = isBusy(index) ? 'RUNNING' : 'FINISHED';
    await untilConversation(cluster, conversationAt(index), { startTask: 'READY', executionStatus });
  }
  await eventually(
    async () => (await findBuilds(at(cluster), old.version.deployment)).builds.map(({ open }) => open),
    [2 * CONVERSATIONS],
  );
}

describeWith('temporal', 'workers of two builds', () => {
  beforeAll(async () => {
    server = await startServerForTests();
  }, SLOW_MS);
  afterAll(() => server?.stop(), SLOW_MS);

  it(
    'change places under open conversations, and none is lost',
    async () => {
      const cluster = await openCluster(server.address);
      const { polls, letGo } = agents();
      const old = await cluster.startBuild('1.0.0', { polls });
      expect(await promoteFirst(at(cluster), old.version)).toBe(true);
      await startAll(cluster, old);

      const next = await cluster.startBuild('2.0.0', { polls });
      expect(await promoteFirst(at(cluster), next.version)).toBe(false);
      await eventually(() => promote(at(cluster), next.version).catch((error: unknown) => error), {
        previous: old.version.buildId,
        changed: true,
      });
      const seen: DrainProgress[] = [];
      const drained = await drain({
        ...at(cluster),
        client: cluster.client,
        version: old.version,
        waitMs: SLOW_MS,
        onProgress: (progress) => void seen.push(progress),
      });
      expect(drained).toEqual({ asked: 2 * CONVERSATIONS, left: 0 });
      expect(seen[0]).toEqual({ asked: 2 * CONVERSATIONS, left: 2 * CONVERSATIONS });
      await old.stop();
      const oldRan = old.ran.length;

      letGo();
      await Promise.all(
        INDICES.map((index) => cluster.entities.requests.deliver(message(index, `more-${index}`))),
      );
      await eventually(() => new Set(next.idsOf('deliverItem')).size, CONVERSATIONS);
      for (const index of INDICES) await untilConversation(cluster, conversationAt(index), FINISHED);
      const builds = new Set(await Promise.all(workflowIds.map((id) => buildOf(cluster, id))));
      expect([...builds]).toEqual([`RUNNING ${next.version.buildId}`]);
      expect(old.ran.length).toBe(oldRan);
      const deliveries = [...old.idsOf('deliverItem'), ...next.idsOf('deliverItem')];
      expect(new Set(deliveries).size).toBe(deliveries.length);
      expect(deliveries.length).toBe(2 * CONVERSATIONS);
    },
    2 * SLOW_MS,
  );
});
