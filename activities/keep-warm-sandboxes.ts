/**
 * One round of the keeper of the warm pool: reads the state of the pool, and carries out what the rules say.
 * Owns the order of the calls; core/placement/warm-pool.ts decides which ones. Level-triggered as the sweep: the next
 * round, also in another process, makes up for one that was missed or cut off.
 */
import type { SandboxId } from '../core/ids.ts';
import { START_TIMEOUT_MS } from '../core/limits.ts';
import {
  warmSteps,
  type WarmPoolTarget,
  type WarmPresence,
  type WarmReason,
  type WarmSandbox,
} from '../core/placement/warm-pool.ts';
import type { RuntimePresence } from '../ports/sandbox-runtime.ts';
import { giveUpWarm, WARM_GENERATION } from './warm-sandbox.ts';
import type { World } from './world.ts';

export type WarmWorld = Pick<World, 'runtime' | 'warmPool' | 'keys' | 'clock' | 'deployment' | 'lifecycle'>;

/** What a process keeps between two rounds. When the process ends, another one adopts its boots. */
export interface WarmMemory {
  readonly booting: ReadonlySet<SandboxId>;
  /** True after a boot that failed, until its pause is over. */
  readonly isBackingOff: boolean;
  /** Whether the runtime is queried about those that are ready. */
  readonly polls: boolean;
}

export interface WarmRound {
  /** True when no warm sandbox is wanted, and none is left. */
  readonly isAtRest: boolean;
  /** Boots to be carried out beside the rounds, by `bootWarm`. */
  readonly boots: readonly SandboxId[];
  /** One line each, for people. */
  readonly done: readonly string[];
  readonly problems: readonly string[];
}

const NO_POOL: WarmPoolTarget = { size: 0, maxAgeMs: 0, spec: '' };

/** Never throws. `newId` makes an id that no other process makes. */
export async function keepWarm(
  world: WarmWorld,
  memory: WarmMemory,
  newId: () => SandboxId,
): Promise<WarmRound> {
  const done: string[] = [];
  const problems: string[] = [];
  const boots: SandboxId[] = [];
  let isAtRest = false;
  try {
    const target = world.deployment.warmPool ?? NO_POOL;
    const held = await world.warmPool.held();
    isAtRest = target.size === 0 && held.length === 0;
    const now = world.clock.now();
    const steps = warmSteps({
      ...{ target, held, now, booting: memory.booting, isBackingOff: memory.isBackingOff },
      presences: memory.polls ? await presencesOf(world, held) : new Map(),
    });
    const leaving = [...steps.remove];
    for (const { sandboxId, reason } of steps.giveUp) {
      // A start may have claimed it since it was read: a sandbox that has an owner is never removed here.
      if (!(await giveUpWarm(world, sandboxId, WORDS[reason]))) continue;
      done.push(givenUp(sandboxId, reason));
      leaving.push(sandboxId);
    }
    problems.push(...(await removed(world, leaving)));
    boots.push(...steps.adopt);
    for (let count = 0; count < steps.boot; count += 1) {
      const sandboxId = newId();
      const limits = world.deployment.capacity;
      const slot = await world.warmPool.reserve({ sandboxId, spec: target.spec, limits, now });
      // A full installation is not a failure of the pool: users come first.
      if (slot.kind !== 'granted') break;
      boots.push(sandboxId);
    }
  } catch (error) {
    problems.push(`Cannot keep the warm pool: ${reasonOf(error)}`);
  }
  return { isAtRest, boots, done, problems };
}

/** Boots one that was reserved. Resolves with null, or why it failed: the next round removes it. Never throws. */
export async function bootWarm(world: WarmWorld, sandboxId: SandboxId): Promise<string | null> {
  const { keys, clock } = world;
  const deadline = clock.now() + START_TIMEOUT_MS;
  const sessionKey = keys.sessionKey(sandboxId, WARM_GENERATION);
  try {
    await world.runtime.start({ sandboxId, generation: WARM_GENERATION, sessionKey, deadline });
    await world.warmPool.ready(sandboxId, clock.now());
    return null;
  } catch (error) {
    const reason = reasonOf(error);
    await giveUpWarm(world, sandboxId, reason).catch(() => false);
    return reason;
  }
}

/** Only those that are ready are queried: one that boots is watched by its boot. */
async function presencesOf(
  { runtime }: WarmWorld,
  held: readonly WarmSandbox[],
): Promise<ReadonlyMap<SandboxId, WarmPresence>> {
  const ready = held.filter(({ state }) => state === 'ready');
  const presences = await Promise.all(ready.map(({ sandboxId }) => runtime.inspect(sandboxId)));
  return new Map(ready.map(({ sandboxId }, index) => [sandboxId, wordFor(presences[index])] as const));
}

function wordFor(presence: RuntimePresence | undefined): WarmPresence {
  if (presence === undefined || presence.kind === 'unknown') return 'unknown';
  return presence.kind === 'up' && presence.generation === WARM_GENERATION ? 'up' : 'down';
}

/** No archive: no conversation ever worked in them (D12). The next round tries again what cannot be removed now. */
async function removed(world: WarmWorld, ids: readonly SandboxId[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const sandboxId of ids) {
    try {
      await world.runtime.destroy(sandboxId);
      await world.warmPool.removed(sandboxId);
    } catch (error) {
      problems.push(`Cannot remove the warm sandbox ${sandboxId}: ${reasonOf(error)}`);
    }
  }
  return problems;
}

const WORDS: Readonly<Record<WarmReason, string>> = {
  other_spec: 'it was made with another configuration',
  too_old: 'it reached the maximum age',
  not_up: 'it is not up any more',
  start_timeout: 'it was not ready in time',
  surplus: 'fewer are wanted',
};

function givenUp(sandboxId: SandboxId, reason: WarmReason): string {
  return `gave up the warm sandbox ${sandboxId}: ${WORDS[reason]}`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
