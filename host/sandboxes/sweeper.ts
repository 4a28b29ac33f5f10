/**
 * Sweeps now and then, as long as the host is open.
 * Owns the rhythm, and that a finding is reported once; what a sweep does is in activities/sweep-sandboxes.ts.
 */
import { sweepSandboxes, type OrphanSightings } from '../../activities/sweep-sandboxes.ts';
import type { World } from '../../activities/world.ts';
import type { HostLookup } from '../../ports/host-leases.ts';

/** A process that does not sweep sees so soon that it is its turn; this needs no query. */
const TURN_POLL_MS = 2_000;
/** Often enough that an orphan is gone some two minutes after it was first seen; a sweep costs one listing and one query. */
const SWEEP_EVERY_MS = 60_000;

export interface Sweeper {
  /** Waits for a sweep that is going on. */
  close(): Promise<void>;
}

export interface SweeperOptions {
  /** Null: no sandbox lives on another machine. */
  readonly hosts: HostLookup | null;
  /** Whether it is this process's to sweep. */
  readonly leads: () => boolean;
  readonly onNotice: (text: string) => void;
}

export function startSweeper(world: World, { hosts, leads, onNotice }: SweeperOptions): Sweeper {
  let sightings: OrphanSightings = new Map();
  let timer: ReturnType<World['clock']['setTimer']> | null = null;
  let isClosed = false;
  const told = new Set<string>();
  const tell = (text: string): void => {
    if (told.has(text)) return;
    told.add(text);
    onNotice(text);
  };
  const sweep = async (): Promise<void> => {
    if (!leads()) {
      // What was seen before its turn ended says nothing of the time between.
      sightings = new Map();
      if (!isClosed) arm(TURN_POLL_MS);
      return;
    }
    const report = await sweepSandboxes(world, sightings, hosts?.own);
    ({ sightings } = report);
    for (const line of [...report.done, ...report.problems]) tell(line);
    if (!isClosed) arm(SWEEP_EVERY_MS);
  };
  const arm = (waitMs: number): void => {
    timer = world.clock.setTimer(world.clock.now() + waitMs, () => {
      running = sweep();
    });
  };
  let running = sweep();
  return {
    async close() {
      isClosed = true;
      await running;
      timer?.cancel();
    },
  };
}
