/**
 * The ordinary way on a server of Temporal: one worker with the SDK's own settings, on a store of its own.
 * Owns the wiring; the store, the world and the activities are those of the product's deployment.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Worker, type WorkflowBundle } from '@temporalio/worker';
import { IDLE_TIME_DEFAULT_MS } from '../../../core/limits.ts';
import type { ConversationSpec } from '../../../core/conversation/state.ts';
import { openWorld, type WorldOptions } from '../bench-world.ts';
import { NAMESPACE, type Ground } from '../ground.ts';
import { Milestones } from '../milestones.ts';
import { ordinaryActivities } from './activities.ts';
import type { empty, ordinary, touchedSignal } from './workflows.ts';

const WORKFLOWS = path.resolve('bench/temporal/ordinary/workflows.ts');

export interface OrdinaryDeployment {
  readonly milestones: Milestones;
  /** Returns when the server has taken it. */
  start(spec: ConversationSpec): Promise<void>;
  touch(spec: ConversationSpec): Promise<void>;
  workflowIdOf(spec: ConversationSpec): string;
  /** One workflow that does nothing, to its end. */
  runEmpty(): Promise<void>;
  stop(): Promise<void>;
}

/** Made once in a process: it takes seconds. */
let bundle: Promise<WorkflowBundle> | null = null;

export async function deployOrdinary(
  { connection, client }: Ground,
  options: WorldOptions,
): Promise<OrdinaryDeployment> {
  const { store, activities, close } = await openWorld(options);
  const milestones = new Milestones();
  const taskQueue = `ordinary-${randomBytes(4).toString('hex')}`;
  const worker = await Worker.create({
    connection,
    namespace: NAMESPACE,
    taskQueue,
    workflowBundle: await (bundle ??= bundleOnce()),
    activities: ordinaryActivities({ activities, records: store.records, milestones }),
    shutdownGraceTime: 100,
  });
  const running = worker.run();
  const workflowIdOf = ({ conversationId }: ConversationSpec): string => `ordinary/${conversationId}`;
  return {
    milestones,
    workflowIdOf,
    async start(spec) {
      const workflowId = workflowIdOf(spec);
      const args: Parameters<typeof ordinary> = [{ spec, idleTimeMs: IDLE_TIME_DEFAULT_MS, session: null }];
      await client.start<typeof ordinary>('ordinary', { workflowId, taskQueue, args });
    },
    async touch(spec) {
      const name: (typeof touchedSignal)['name'] = 'touched';
      await client.getHandle(workflowIdOf(spec)).signal(name);
    },
    async runEmpty() {
      const workflowId = `empty/${randomBytes(8).toString('hex')}`;
      await client.execute<typeof empty>('empty', { workflowId, taskQueue });
    },
    async stop() {
      worker.shutdown();
      await running;
      await close();
    },
  };
}

async function bundleOnce(): Promise<WorkflowBundle> {
  return await bundleWorkflowCode({ workflowsPath: WORKFLOWS, logger: new DefaultLogger('ERROR') });
}
