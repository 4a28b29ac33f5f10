/**
 * A sandbox that is kept busy up to its cap by touches: what it costs in events, ours and in the ordinary way.
 * Owns both loads, on servers that skip time; nothing is left out of the histories.
 */
import type { Activities } from '../../activities/activity.ts';
import type { World } from '../../activities/world.ts';
import { sandboxId, userId } from '../../core/ids.ts';
import { IDLE_TIME_DEFAULT_MS } from '../../core/limits.ts';
import { sessionEndOf } from '../../core/sandbox/session.ts';
import { HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import { specOf } from './conversations.ts';
import { deploy } from './deployment.ts';
import { eventsOf } from './histories.ts';
import { deployOrdinary } from './ordinary/deployment.ts';
import { paced } from './bench-world.ts';
import { onSkippingServer, type SkippingGround } from './skipping-ground.ts';

/** Looks leave no history, so their number decides only how long this takes: more often than the idle rule needs. */
const POLL_EVERY_MS = 2 * MINUTE_MS;
/** Up to the cap and over the pause that it brings. */
const PLAYED_MS = sessionEndOf(0) + HOUR_MS / 2;
const SANDBOX = sandboxId('5'.repeat(32));

export interface BusyLoad {
  readonly touches: number;
  readonly ordinaryTouches: number;
}

export interface BusySandbox {
  readonly events: number;
  readonly touches: number;
  readonly polls: number;
  readonly listing: readonly string[];
  /** Over its whole chain of runs, from the start of the conversation to its pause. */
  readonly ordinaryEvents: number;
  readonly ordinaryTouches: number;
}

export async function measureBusySandbox({ touches, ordinaryTouches }: BusyLoad): Promise<BusySandbox> {
  const ours = await onSkippingServer((ground) => ourSandbox(ground, touches));
  const ordinaryEvents = await onSkippingServer((ground) => ordinarySandbox(ground, ordinaryTouches));
  return { ...ours, touches, ordinaryEvents, ordinaryTouches };
}

type Ours = Pick<BusySandbox, 'events' | 'polls' | 'listing'>;

async function ourSandbox(ground: SkippingGround, touches: number): Promise<Ours> {
  const beganAt = await ground.readClock();
  const touching = new Touching(beganAt, touches);
  const { requests, stop, store } = await deploy(ground, {
    activityMs: 0,
    clock: ground.clock,
    pollMs: POLL_EVERY_MS,
    world: (world) => ({
      ...world,
      agent: { ...world.agent, idleSeconds: () => touching.idleSeconds(world) },
    }),
    activities: (activities, { activity }) =>
      paced(counting(activities, touching), async () => {
        await touching.upTo(await ground.readClock(), (at) => activity.touch(SANDBOX, at));
      }),
  });
  try {
    const limits = { idleTimeMs: IDLE_TIME_DEFAULT_MS, deletionTimeMs: null };
    const spec = { sandboxId: SANDBOX, userId: userId('bench'), createdBy: 'api', limits } as const;
    await requests.deliver({ to: { machine: 'sandbox', id: SANDBOX }, event: { type: 'created', spec } });
    await ground.skip(PLAYED_MS);
    const row = await store.records.sandbox(SANDBOX);
    if (row?.pauseReason !== 'session_limit')
      throw new Error(`Cannot count: the sandbox is ${row?.status} (${row?.pauseReason}), not at its cap`);
    const listing = await eventsOf(ground.client, `sandbox/${SANDBOX}`);
    return { events: listing.length, polls: touching.polls, listing };
  } finally {
    await stop();
  }
}

/** Touches at even distances over a session, written into the store as time passes. */
class Touching {
  polls = 0;
  private done = 0;
  private lastAt: number;
  private readonly beganAt: number;
  private readonly count: number;

  constructor(beganAt: number, count: number) {
    this.beganAt = beganAt;
    this.count = count;
    this.lastAt = beganAt;
  }

  /** Those that are due by then, each a write of its own. */
  async upTo(now: number, touch: (at: number) => Promise<void>): Promise<void> {
    const everyMs = sessionEndOf(0) / this.count;
    while (this.done < this.count && this.beganAt + this.done * everyMs <= now) {
      this.lastAt = Math.round(this.beganAt + this.done * everyMs);
      this.done += 1;
      await touch(this.lastAt);
    }
  }

  /** The agent has seen no more than the touches. */
  idleSeconds({ clock }: World): Promise<number> {
    return Promise.resolve((clock.now() - this.lastAt) / 1_000);
  }
}

function counting(activities: Activities, touching: Touching): Activities {
  const { watchIdle } = activities;
  const poll: typeof watchIdle.poll = (command, memory) => {
    touching.polls += 1;
    return watchIdle.poll(command, memory);
  };
  return { ...activities, watchIdle: { ...watchIdle, poll } };
}

async function ordinarySandbox(ground: SkippingGround, touches: number): Promise<number> {
  await ground.readClock();
  const { start, touch, workflowIdOf, milestones, stop } = await deployOrdinary(ground, {
    activityMs: 0,
    clock: ground.clock,
    activities: (activities) => paced(activities, () => ground.readClock()),
  });
  try {
    const spec = specOf('busy');
    await start(spec);
    await milestones.at(spec.conversationId, 'FINISHED');
    const everyMs = Math.floor(sessionEndOf(0) / touches);
    for (let touched = 0; touched < touches; touched += 1) {
      await touch(spec);
      await ground.skip(everyMs);
    }
    await ground.skip(HOUR_MS);
    return (await eventsOf(ground.client, workflowIdOf(spec))).length;
  } finally {
    await stop();
  }
}
