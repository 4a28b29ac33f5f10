/**
 * Keeps the warm pool full, as long as the host is open.
 * Owns the rhythm, the boots that go on beside the rounds and the pause after failed ones; what a round does is in
 * activities/keep-warm-sandboxes.ts.
 */
import { randomBytes } from 'node:crypto';
import { bootWarm, keepWarm, type WarmMemory } from '../../activities/keep-warm-sandboxes.ts';
import type { World } from '../../activities/world.ts';
import { sandboxId, type SandboxId } from '../../core/ids.ts';
import type { WarmMeter } from '../../ports/warm-meter.ts';

/** A claimed sandbox is replaced soon after; a round without a claim costs a query. */
const ROUND_EVERY_MS = 1_000;
/** Where there is no pool: a configuration that is changed meanwhile is followed a little later. */
const REST_MS = 10_000;
/** Boots that are under way when the host closes are taken up by the next one; they are not waited for any longer. */
const CLOSE_WAIT_MS = 2_000;
/** After boots that failed: doubled from the first to the last. */
const PAUSE_MS = { initial: 5_000, max: 300_000 } as const;
/** Doublings beyond this change nothing. */
const DOUBLINGS_MAX = 10;

export interface WarmKeeper {
  /** Waits for what is going on; the sandboxes stay, for the next host. */
  close(): Promise<void>;
}

export interface WarmListeners {
  /** Whether it is this process's to keep the pool. */
  readonly leads: () => boolean;
  readonly meter: Pick<WarmMeter, 'held'>;
  readonly onNotice: (text: string) => void;
}

export function startWarmKeeper(world: World, { leads, meter, onNotice }: WarmListeners): WarmKeeper {
  const booting = new Map<SandboxId, Promise<void>>();
  let told: ReadonlySet<string> = new Set();
  let toldFailure: string | null = null;
  let timer: ReturnType<World['clock']['setTimer']> | null = null;
  let failures = 0;
  let notBefore = 0;
  let nextPollAt = 0;
  let isClosed = false;
  // A problem that lasts is reported once, and once more when it comes back.
  const tellNew = (problems: readonly string[]): void => {
    for (const line of problems) if (!told.has(line)) onNotice(line);
    told = new Set(problems);
  };
  const boot = async (id: SandboxId): Promise<void> => {
    const failure = await bootWarm(world, id);
    booting.delete(id);
    failures = failure === null ? 0 : failures + 1;
    if (failure !== null) {
      notBefore = world.clock.now() + pauseAfter(failures);
      if (failure !== toldFailure) onNotice(`Cannot boot a warm sandbox: ${failure}`);
    }
    toldFailure = failure;
  };
  const round = async (): Promise<void> => {
    if (!leads()) {
      meter.held(NOTHING);
      if (!isClosed) arm(ROUND_EVERY_MS);
      return;
    }
    const now = world.clock.now();
    const polls = now >= nextPollAt;
    if (polls) nextPollAt = now + world.deployment.pollMs;
    const memory: WarmMemory = {
      booting: new Set(booting.keys()),
      isBackingOff: now < notBefore,
      polls,
    };
    const { isAtRest, boots, done, problems } = await keepWarm(world, memory, newId);
    await measure(world, meter);
    for (const id of boots) booting.set(id, boot(id));
    for (const line of done) onNotice(line);
    tellNew(problems);
    if (!isClosed) arm(isAtRest ? REST_MS : ROUND_EVERY_MS);
  };
  const arm = (waitMs: number): void => {
    timer = world.clock.setTimer(world.clock.now() + waitMs, () => {
      running = round();
    });
  };
  let running = round();
  return {
    async close() {
      isClosed = true;
      await running;
      timer?.cancel();
      await within(world, CLOSE_WAIT_MS, Promise.all(booting.values()));
    },
  };
}

/** Of a pool that another process keeps. */
const NOTHING = { wanted: 0, booting: 0, ready: 0, leaving: 0 } as const;

/** A store that cannot be queried is reported by the round. */
async function measure(world: World, meter: Pick<WarmMeter, 'held'>): Promise<void> {
  const figures = await world.warmPool.figures().catch(() => null);
  if (figures === null) return;
  const { booting, ready, leaving } = figures;
  meter.held({ wanted: world.deployment.warmPool?.size ?? 0, booting, ready, leaving });
}

function within({ clock }: World, ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(clock.now() + ms, resolve);
    void work.finally(() => {
      timer.cancel();
      resolve();
    });
  });
}

function pauseAfter(failures: number): number {
  return Math.min(PAUSE_MS.max, PAUSE_MS.initial * 2 ** Math.min(failures - 1, DOUBLINGS_MAX));
}

function newId(): SandboxId {
  return sandboxId(randomBytes(16).toString('hex'));
}
