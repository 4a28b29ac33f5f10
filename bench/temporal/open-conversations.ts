/**
 * Many conversations that are open and idle: what the worker's process holds in memory, and how long a status read takes.
 * Owns the load; they are started with activities that answer at once, twenty in a sandbox, and without a message.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ConversationId } from '../../core/ids.ts';
import { DAY_MS } from '../../core/time.ts';
import type { Store } from '../../store/open-store.ts';
import { specOf, eachAtOnce, started } from './conversations.ts';
import { deploy } from './deployment.ts';
import { onDevServer } from './ground.ts';
import { percentile } from '../all/means.ts';

/** The rest of a start is over by then. */
const SETTLE_MS = 5_000;
const READS = 2_000;
const PROGRESS_EVERY = 500;
/** No start takes so long, even on a busy machine: a longer wait would never end. */
const STALL_MS_MAX = 300_000;
const STALL_POLL_MS = 5_000;

export interface OpenConversations {
  readonly open: number;
  /** Of the one process that is worker and client. */
  readonly rssMb: number;
  /** One record by its id, as it is in the store. */
  readonly readP50Ms: number;
  readonly startedPerSecond: number;
}

/** How far it has come from one size to the next. */
export interface Growth {
  readonly open: number;
  readonly size: number;
  /** Since the size before. */
  readonly startedPerSecond: number;
}

export interface OpenConversationsLoad {
  /** Ascending. */
  readonly sizes: readonly number[];
  /** Started at once: enough to keep the server busy, and no more than the machine can carry. */
  readonly atOnce: number;
}

export interface OpenConversationsListener {
  onGrowth(growth: Growth): void;
  /** What was found at one size, before the next. */
  onFound(found: OpenConversations): void;
}

/**
 * Grows one deployment to each size.
 * @throws Error when nothing gets ready for minutes, and says how many are open
 */
export async function measureOpenConversations(
  { sizes, atOnce }: OpenConversationsLoad,
  { onGrowth, onFound }: OpenConversationsListener,
): Promise<readonly OpenConversations[]> {
  return await onDevServer(async (ground) => {
    const { requests, milestones, store, stop } = await deploy(ground, {
      activityMs: 0,
      // No runtime is polled and no sandbox idles out meanwhile, so that all stay open.
      pollMs: DAY_MS,
      world: (world) => ({
        ...world,
        deployment: { ...world.deployment, limits: { ...world.deployment.limits, idleTimeMs: null } },
      }),
    });
    const ids: ConversationId[] = [];
    const grow = async (size: number): Promise<number> => {
      const names = Array.from({ length: size - ids.length }, (_, index) => `open ${ids.length + index}`);
      const before = ids.length;
      const from = performance.now();
      const startedPerSecond = (): number => (1_000 * (ids.length - before)) / (performance.now() - from);
      const starting = eachAtOnce(names, atOnce, async (name) => {
        const spec = specOf(name, { strategy: 'ADD_TO_ANY', initialMessage: null });
        await requests.deliver(started(spec));
        await milestones.at(spec.conversationId, 'READY');
        ids.push(spec.conversationId);
        if (ids.length % PROGRESS_EVERY === 0)
          onGrowth({ open: ids.length, size, startedPerSecond: startedPerSecond() });
      });
      await unlessStalled(starting, () => ids.length);
      return startedPerSecond();
    };
    try {
      const found: OpenConversations[] = [];
      for (const open of sizes) {
        const startedPerSecond = await grow(open);
        await pause(SETTLE_MS);
        const readP50Ms = await readP50(store, ids);
        const one = { open, rssMb: process.memoryUsage.rss() / 2 ** 20, readP50Ms, startedPerSecond };
        onFound(one);
        found.push(one);
      }
      return found;
    } finally {
      await stop();
    }
  });
}

/** Rejects when `count` stands still for too long. */
async function unlessStalled(work: Promise<void>, count: () => number): Promise<void> {
  let last = { count: count(), at: performance.now() };
  let poll: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_resolve, reject) => {
    poll = setInterval(() => {
      const now = performance.now();
      if (count() !== last.count) last = { count: count(), at: now };
      else if (now - last.at > STALL_MS_MAX)
        reject(new Error(`Cannot open more: ${last.count} are open, and nothing gets ready any more`));
    }, STALL_POLL_MS);
  });
  await Promise.race([work, stalled]).finally(() => clearInterval(poll));
}

async function readP50(store: Store, ids: readonly ConversationId[]): Promise<number> {
  const ms: number[] = [];
  for (let read = 0; read < READS; read += 1) {
    const id = ids[(read * 7_919) % ids.length];
    if (id === undefined) throw new Error('Cannot read: nothing is open');
    const from = performance.now();
    const row = await store.records.conversation(id);
    ms.push(performance.now() - from);
    if (row?.startTask !== 'READY')
      throw new Error(`Cannot trust the figure: conversation "${id}" is not open`);
  }
  return percentile(ms, 0.5);
}
