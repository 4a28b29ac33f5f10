/**
 * What a conversation costs in events of history, from its start to its agent that has finished, counted on real histories.
 * Owns the counting for both ways; nothing is left out.
 */
import { runId, userId, type ConversationId, type RunId } from '../../core/ids.ts';
import type { ConversationRow } from '../../core/machine/projection.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { runSpec } from '../../core/run/run-spec.ts';
import { planOf } from '../engine/run-load.ts';
import { specOf, eachAtOnce, started } from './conversations.ts';
import { deploy, type Deployment } from './deployment.ts';
import { onDevServer, type Ground } from './ground.ts';
import { eventsAtRest } from './histories.ts';
import { mean } from '../all/means.ts';
import { deployOrdinary } from './ordinary/deployment.ts';

export interface HistoryLoad {
  readonly conversations: number;
  readonly atOnce: number;
  readonly activityMs: number;
}

/** Means over the conversations. */
export interface HistoryMeans {
  readonly own: number;
  readonly sandbox: number;
}

export interface HistoryCost {
  /** Started by themselves, as in the ordinary way: they touch no other history. */
  readonly alone: HistoryMeans;
  /** As items of one run. */
  readonly inRun: HistoryMeans & { readonly shareOfRun: number };
  /** One conversation in full: types of events, in order. */
  readonly listing: { readonly conversation: readonly string[]; readonly sandbox: readonly string[] };
  readonly runListing: readonly string[];
  readonly ordinary: number;
  readonly ordinaryListing: readonly string[];
}

export async function measureHistoryCost(load: HistoryLoad): Promise<HistoryCost> {
  const alone = await onDevServer((ground) => countAlone(ground, load));
  const inRun = await onDevServer((ground) => countInRun(ground, load));
  const ordinary = await onDevServer((ground) => countOrdinary(ground, load));
  return { alone, ...inRun, ...ordinary };
}

async function countAlone(ground: Ground, load: HistoryLoad): Promise<HistoryMeans> {
  const { activityMs, conversations, atOnce } = load;
  const { store, requests, milestones, stop } = await deploy(ground, { activityMs });
  try {
    const specs = Array.from({ length: conversations }, (_, index) => specOf(`alone ${index}`));
    await eachAtOnce(specs, atOnce, async (spec) => {
      await requests.deliver(started(spec));
      await milestones.at(spec.conversationId, 'FINISHED');
    });
    const rows = await store.records.conversations({});
    if (rows.length !== conversations) throw new Error(`Cannot count: ${rows.length} conversations began`);
    const { own, sandbox } = await countOf(ground, rows);
    return { own, sandbox };
  } finally {
    await stop();
  }
}

type InRun = Pick<HistoryCost, 'inRun' | 'listing' | 'runListing'>;

/** The run lets everything stand when it has ended. */
async function countInRun(
  ground: Ground,
  { conversations, atOnce, activityMs }: HistoryLoad,
): Promise<InRun> {
  const deployment = await deploy(ground, { activityMs });
  const { store, milestones, stop } = deployment;
  try {
    const id = runId('run');
    const keep = { sandbox: 'keep', conversation: 'keep', onCollectFailure: 'keep' } as const;
    const plan = { ...planOf(id, { items: conversations, concurrency: atOnce }), cleanup: keep };
    await runToEnd(deployment, id, plan);
    const rows = await store.records.conversations({ runId: id });
    if (rows.length !== conversations) throw new Error(`Cannot count: ${rows.length} conversations began`);
    await Promise.all(rows.map(({ conversationId }) => milestones.at(conversationId, 'FINISHED')));
    const { own, sandbox, listing } = await countOf(ground, rows);
    const [runListing = []] = await eventsAtRest(ground.client, [`run/${id}`]);
    return { inRun: { own, sandbox, shareOfRun: runListing.length / conversations }, listing, runListing };
  } finally {
    await stop();
  }
}

/** Each with a sandbox of its own. */
async function countOf(
  { client }: Ground,
  rows: readonly ConversationRow[],
): Promise<HistoryMeans & Pick<HistoryCost, 'listing'>> {
  const ids = rows.map((row) => [`conversation/${row.conversationId}`, `sandbox/${row.sandboxId}`]);
  const histories = await eventsAtRest(client, ids.flat());
  const lengthsOf = (offset: number): readonly number[] =>
    ids.map((_, index) => histories[2 * index + offset]?.length ?? Number.NaN);
  const listing = { conversation: histories[0] ?? [], sandbox: histories[1] ?? [] };
  return { own: mean(lengthsOf(0)), sandbox: mean(lengthsOf(1)), listing };
}

/** Begins a run of that plan, and waits until it has ended. */
export async function runToEnd({ store, requests }: Deployment, id: RunId, plan: Plan): Promise<void> {
  await store.plans.putPlan(id, plan);
  const spec = runSpec(plan, { runId: id, userId: userId('bench') });
  await requests.deliver({ to: { machine: 'run', id }, event: { type: 'runStarted', spec } });
  while ((await store.records.run(id))?.phase !== 'finished')
    await new Promise((resolve) => setTimeout(resolve, 50));
}

type Ordinary = Pick<HistoryCost, 'ordinary' | 'ordinaryListing'>;

async function countOrdinary(ground: Ground, load: HistoryLoad): Promise<Ordinary> {
  const { activityMs, conversations, atOnce } = load;
  const { start, milestones, workflowIdOf, stop } = await deployOrdinary(ground, { activityMs });
  try {
    const specs = Array.from({ length: conversations }, (_, index) => specOf(`ordinary ${index}`));
    await eachAtOnce(specs, atOnce, async (spec) => {
      await start(spec);
      await milestones.at(spec.conversationId satisfies ConversationId, 'FINISHED');
    });
    const histories = await eventsAtRest(ground.client, specs.map(workflowIdOf));
    return { ordinary: mean(histories.map(({ length }) => length)), ordinaryListing: histories[0] ?? [] };
  } finally {
    await stop();
  }
}
