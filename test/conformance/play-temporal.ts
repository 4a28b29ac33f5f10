/** Plays a script on Temporal under time skipping, every step settled before the next. Owns nothing but the wiring. */
import { addressKey } from '../../core/ids.ts';
import { World } from '../../simulator/models/world.ts';
import { RandomStream } from '../../simulator/random.ts';
import { act, type Script } from '../../simulator/script.ts';
import { openSkippingEngine } from '../../testing/temporal/skipping-engine.ts';
import { SkippingPlay } from '../../testing/temporal/skipping-play.ts';
import { WarmServers } from '../../testing/temporal/warm-servers.ts';
import { requireTestServer } from '../helpers/temporal-tools.ts';
import { EntityTraces } from './entity-traces.ts';
import type { LateTraces } from './temporal/same-traces.ts';

/** Events of a history before a run is continued as new, where a script is not about that. */
const EVENTS_MAX = 2_000;

/** Real time that one script may take; its server is killed then. */
const WALL_MS = 90_000;

/** Scripts of one file play on one server after the other, unless one of them leaves it in a state. */
export const servers = new WarmServers();

export interface PlayedOnTemporal extends LateTraces {
  /** Runs of all workflows: one for each entity unless some were continued as new. */
  readonly runs: number;
}

export async function playTemporal(
  script: Script,
  { eventsMax = EVENTS_MAX }: { readonly eventsMax?: number } = {},
): Promise<PlayedOnTemporal> {
  const engine = await openSkippingEngine({ testServer: requireTestServer(), servers, eventsMax });
  const { startAt } = engine;
  const traces = new EntityTraces(startAt);
  const passedMs = new Map<string, number[]>();
  const { models, policy, seed } = script;
  const late: { world: World | null } = { world: null };
  const play = new SkippingPlay({
    startAt,
    world: (port) => (late.world = new World(port, { models, policy, random: new RandomStream(seed) })),
    onStep(step, ms) {
      traces.add(step);
      const key = addressKey(step.address);
      passedMs.set(key, [...(passedMs.get(key) ?? []), ms]);
    },
  });
  const { world } = late;
  if (world === null) throw new Error('Cannot play the script: there is no world');
  const people = { world, deliver: play.request.bind(play) };
  for (const [number, { atMs, action }] of script.steps.entries())
    play.script(startAt + atMs, () => act(people, action, number));
  try {
    await within(WALL_MS, performAll(engine, play.until(startAt + script.untilMs)));
  } finally {
    await engine.close();
  }
  return { traces, startAt, passedMs, runs: play.runs };
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Cannot play the script: it takes more than ${ms} ms`)), ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function performAll(
  engine: Awaited<ReturnType<typeof openSkippingEngine>>,
  playing: ReturnType<SkippingPlay['until']>,
): Promise<void> {
  let next = playing.next();
  while (next.done !== true) next = playing.next(await engine.perform(next.value));
}
