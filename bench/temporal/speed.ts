/**
 * Conversations per second in both ways and empty workflows per second, one after the other on the same server.
 * Owns the loads; activities answer at once, so that the server and the workers are what is measured.
 */
import type { ConversationSpec } from '../../core/conversation/state.ts';
import { specOf, eachAtOnce, started } from './conversations.ts';
import { deploy } from './deployment.ts';
import { onDevServer, type Ground } from './ground.ts';
import { median, medians, percentile } from '../all/means.ts';
import { deployOrdinary, type OrdinaryDeployment } from './ordinary/deployment.ts';

export interface SpeedLoad {
  readonly conversations: number;
  readonly atOnce: number;
  readonly repeats: number;
}

/** One way of doing the work. */
export interface Pace {
  /** Conversations that were started and finished, per second. */
  readonly perSecond: number;
  /** From the request to the row that says READY, milliseconds. */
  readonly readyP50Ms: number;
  readonly readyP95Ms: number;
  /** User and system time of this process, which is worker and client, for each conversation. */
  readonly cpuMs: number;
}

/** Medians over the repeats, each figure for itself. */
export interface Speed {
  readonly emptyPerSecond: number;
  readonly ours: Pace;
  readonly ordinary: Pace;
}

type Way = Pick<OrdinaryDeployment, 'milestones' | 'start'>;

/** Run through before anything is counted: code is compiled, connections are open. */
const WARM_UP = 20;

export async function measureSpeed(
  load: SpeedLoad,
  onRepeat: (name: string, speed: Speed) => void,
): Promise<Speed> {
  const speeds: Speed[] = [];
  for (let repeat = 0; repeat < load.repeats; repeat += 1) {
    const speed = await onDevServer((ground) => once(ground, load));
    onRepeat(`repeat ${repeat + 1}`, speed);
    speeds.push(speed);
  }
  return {
    emptyPerSecond: median(speeds.map(({ emptyPerSecond }) => emptyPerSecond)),
    ours: medians(speeds.map(({ ours }) => ours)),
    ordinary: medians(speeds.map(({ ordinary }) => ordinary)),
  };
}

/** Each way alone: workers of another would poll beside it. */
async function once(ground: Ground, load: SpeedLoad): Promise<Speed> {
  const { conversations, atOnce } = load;
  const direct = await deployOrdinary(ground, { activityMs: 0 });
  const ordinary = await paceOf(direct, { ...load, name: 'ordinary' });
  const all = Array.from({ length: conversations }, () => null);
  const from = performance.now();
  await eachAtOnce(all, atOnce, () => direct.runEmpty());
  const emptyPerSecond = (1_000 * conversations) / (performance.now() - from);
  await direct.stop();
  const { milestones, requests, stop } = await deploy(ground, { activityMs: 0 });
  const way: Way = { milestones, start: (spec) => requests.deliver(started(spec)) };
  const ours = await paceOf(way, { ...load, name: 'ours' });
  await stop();
  return { emptyPerSecond, ours, ordinary };
}

async function paceOf(
  { start, milestones }: Way,
  { conversations, atOnce, name }: SpeedLoad & { readonly name: string },
): Promise<Pace> {
  const readyMs: number[] = [];
  const begin = async (spec: ConversationSpec): Promise<void> => {
    const from = performance.now();
    await start(spec);
    readyMs.push((await milestones.at(spec.conversationId, 'READY')) - from);
    await milestones.at(spec.conversationId, 'FINISHED');
  };
  const specs = (label: string, count: number): readonly ConversationSpec[] =>
    Array.from({ length: count }, (_, index) => specOf(`${name} ${label} ${index}`));
  await eachAtOnce(specs('warm-up', WARM_UP), atOnce, begin);
  readyMs.length = 0;
  const from = performance.now();
  const cpuFrom = process.cpuUsage();
  await eachAtOnce(specs('counted', conversations), atOnce, begin);
  const perSecond = (1_000 * conversations) / (performance.now() - from);
  const { user, system } = process.cpuUsage(cpuFrom);
  const cpuMs = (user + system) / 1_000 / conversations;
  return { perSecond, cpuMs, readyP50Ms: percentile(readyMs, 0.5), readyP95Ms: percentile(readyMs, 0.95) };
}
