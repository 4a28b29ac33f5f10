/**
 * What a conversation costs in events of history, from its start to its agent that has finished, counted on real histories.
 * Owns the counting for both ways; nothing is left out.
 */
import { runId, userId, type ConversationId } from '../../core/ids.ts';
import { runBirth } from '../../core/run/birth.ts';
import type { RunState } from '../../core/run/state.ts';
import { planOf } from '../engine/run-load.ts';
import { birthOf, eachAtOnce } from './conversations.ts';
import { deploy } from './deployment.ts';
import { onDevServer, type Ground } from './ground.ts';
import { eventsAtRest } from './histories.ts';
import { mean } from './means.ts';
import { deployOrdinary } from './ordinary/deployment.ts';

export interface HistoryLoad {
  readonly conversations: number;
  readonly atOnce: number;
  readonly activityMs: number;
}

export interface HistoryCost {
  /** Means over the conversations. */
  readonly own: number;
  readonly sandbox: number;
  readonly shareOfRun: number;
  readonly all: number;
  /** One conversation in full: types of events, in order. */
  readonly listing: { readonly conversation: readonly string[]; readonly sandbox: readonly string[] };
  readonly runListing: readonly string[];
  readonly ordinary: number;
  readonly ordinaryListing: readonly string[];
}

export async function measureHistoryCost(load: HistoryLoad): Promise<HistoryCost> {
  const ours = await onDevServer((ground) => countOurs(ground, load));
  const ordinary = await onDevServer((ground) => countOrdinary(ground, load));
  return { ...ours, ...ordinary };
}

type Ours = Omit<HistoryCost, 'ordinary' | 'ordinaryListing'>;

/** As items of one run, which lets everything stand when it has ended. */
async function countOurs(ground: Ground, { conversations, atOnce, activityMs }: HistoryLoad): Promise<Ours> {
  const { store, requests, milestones, stop } = await deploy(ground, { activityMs });
  try {
    const id = runId('run');
    const keep = { sandbox: 'keep', conversation: 'keep', onCollectFailure: 'keep' } as const;
    const plan = { ...planOf(id, { items: conversations, concurrency: atOnce }), cleanup: keep };
    await store.plans.putPlan(id, plan);
    const birth = runBirth(plan, { runId: id, userId: userId('bench') });
    await requests.deliver({ to: { machine: 'run', id }, event: { type: 'runStarted', birth } });
    await runEnded(() => store.records.run(id).then((row) => row?.phase ?? null));
    const rows = await store.records.conversations({ runId: id });
    if (rows.length !== conversations) throw new Error(`Cannot count: ${rows.length} conversations began`);
    await Promise.all(rows.map(({ conversationId }) => milestones.at(conversationId, 'FINISHED')));
    const ids = rows.map((row) => [`conversation/${row.conversationId}`, `sandbox/${row.sandboxId}`]);
    const histories = await eventsAtRest(ground.client, [...ids.flat(), `run/${id}`]);
    const lengthsOf = (offset: number): readonly number[] =>
      ids.map((_, index) => histories[2 * index + offset]?.length ?? Number.NaN);
    const own = mean(lengthsOf(0));
    const sandbox = mean(lengthsOf(1));
    const runListing = histories.at(-1) ?? [];
    const shareOfRun = runListing.length / conversations;
    const listing = { conversation: histories[0] ?? [], sandbox: histories[1] ?? [] };
    return { own, sandbox, shareOfRun, all: own + sandbox + shareOfRun, listing, runListing };
  } finally {
    await stop();
  }
}

async function runEnded(phase: () => Promise<RunState['phase'] | null>): Promise<void> {
  while ((await phase()) !== 'finished') await new Promise((resolve) => setTimeout(resolve, 50));
}

type Ordinary = Pick<HistoryCost, 'ordinary' | 'ordinaryListing'>;

async function countOrdinary(ground: Ground, load: HistoryLoad): Promise<Ordinary> {
  const { activityMs, conversations, atOnce } = load;
  const { start, milestones, workflowIdOf, stop } = await deployOrdinary(ground, { activityMs });
  try {
    const births = Array.from({ length: conversations }, (_, index) => birthOf(`ordinary ${index}`));
    await eachAtOnce(births, atOnce, async (birth) => {
      await start(birth);
      await milestones.at(birth.conversationId satisfies ConversationId, 'FINISHED');
    });
    const histories = await eventsAtRest(ground.client, births.map(workflowIdOf));
    return { ordinary: mean(histories.map(({ length }) => length)), ordinaryListing: histories[0] ?? [] };
  } finally {
    await stop();
  }
}
