/**
 * A store on disk and the real activities over an instant world, as both measured implementations use them.
 * Owns the folder, and an agent that is at work once before it has finished; must not know Temporal.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Activities } from '../../activities/activity.ts';
import { activitiesOf } from '../../activities/registry.ts';
import type { World } from '../../activities/world.ts';
import { IDLE_TIME_DEFAULT_MS } from '../../core/limits.ts';
import { systemClock } from '../../engine/system-clock.ts';
import type { AgentServer } from '../../ports/agent-server.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { instantWorld } from '../instant-world.ts';

export interface WorldOptions {
  /** How long every activity takes. */
  readonly activityMs: number;
  readonly clock?: Clock;
  /** Between two polls of a runtime and an agent. Absent: as seldom as the idle rule allows. */
  readonly pollMs?: number;
  /** What differs from the instant world. */
  readonly world?: (world: World, store: Store) => World;
  readonly activities?: (activities: Activities, store: Store) => Activities;
  /** Absent: a file of SQLite. */
  readonly openStore?: () => Promise<Store>;
}

export interface BenchWorld {
  readonly store: Store;
  readonly activities: Activities;
  close(): Promise<void>;
}

/** Activities send requests to machines through `notifier`; a direct workflow has no machines. */
export async function openWorld(options: WorldOptions, notifier: Notifier = NOBODY): Promise<BenchWorld> {
  const { activityMs, clock = systemClock, pollMs = IDLE_TIME_DEFAULT_MS } = options;
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-bench-'));
  const store = await (options.openStore?.() ??
    openStore({ kind: 'sqlite', path: path.join(folder, 'bench.db') }));
  const instant = instantWorld({ store, clock, notifier });
  const deployment = { ...instant.deployment, pollMs };
  const working = { ...instant, deployment, agent: workingOnce(instant.agent) };
  const activities = taking(activitiesOf(options.world?.(working, store) ?? working), activityMs);
  return {
    store,
    activities: options.activities?.(activities, store) ?? activities,
    async close() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

const NOBODY: Notifier = { deliver: () => Promise.reject(new Error('Cannot deliver: nobody is there')) };

/** At the first poll after a message the agent is at work; at the next one it has finished. */
function workingOnce(agent: AgentServer): AgentServer {
  const atWork = new Set<string>();
  return {
    ...agent,
    sendMessage: (target, id, message) => {
      atWork.add(id);
      return agent.sendMessage(target, id, message);
    },
    async conversation(target, id) {
      const view = await agent.conversation(target, id);
      return view !== null && atWork.delete(id) ? { ...view, executionStatus: 'RUNNING' } : view;
    },
  };
}

interface AnyActivity {
  readonly run: (...args: readonly unknown[]) => Promise<unknown>;
  readonly poll?: (...args: readonly unknown[]) => Promise<unknown>;
}

/** `before` is awaited at the beginning of every try and every poll. */
export function paced(activities: Activities, before: () => Promise<unknown>): Activities {
  const after =
    (carryOut: AnyActivity['run']): AnyActivity['run'] =>
    async (...args) => {
      await before();
      return await carryOut(...args);
    };
  const entries = Object.entries(activities as unknown as Record<string, AnyActivity>).map(
    ([type, activity]) => {
      const { run, poll } = activity;
      return [type, { ...activity, run: after(run), ...(poll === undefined ? {} : { poll: after(poll) }) }];
    },
  );
  return Object.fromEntries(entries) as Activities;
}

/** Every activity takes so long, brief ones too. */
function taking(activities: Activities, ms: number): Activities {
  return ms === 0 ? activities : paced(activities, () => pause(ms));
}
