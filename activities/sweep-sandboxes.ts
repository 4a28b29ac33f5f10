/**
 * Store and runtime side by side: what one holds and the other knows nothing of.
 * Owns the comparison, the patience before an orphan is removed, and the report; sandboxes that have a life are their
 * machine's, and are never touched here. Level-triggered: every sweep compares everything of its host, and one that was
 * missed or cut off is made good by the next.
 */
import type { SandboxId } from '../core/ids.ts';
import type { SandboxRow } from '../core/machine/projection.ts';
import { isReleased } from '../core/sandbox/row.ts';
import type { World } from './world.ts';

/** An orphan is removed when this many sweeps saw it, */
export const SIGHTINGS_MIN = 2;
/** and this long after the first: a start whose record is being written is no orphan. */
export const GRACE_MS = 60_000;

type SweptWorld = Pick<
  World,
  'runtime' | 'records' | 'warmPool' | 'archives' | 'blobs' | 'clock' | 'lifecycle'
>;

/** What sweeps remember from one to the next; lost with the process, and then the patience begins anew. */
export type OrphanSightings = ReadonlyMap<
  string,
  { readonly firstSeenAt: number; readonly sightings: number }
>;

export interface SweepReport {
  readonly sightings: OrphanSightings;
  /** One line each, for people. */
  readonly done: readonly string[];
  readonly problems: readonly string[];
}

/** Never throws: a runtime that cannot be asked changes nothing (D13). `host` null: no sandbox lives anywhere else. */
export async function sweepSandboxes(
  world: SweptWorld,
  before: OrphanSightings,
  host: string | null = null,
): Promise<SweepReport> {
  const done: string[] = [];
  const problems: string[] = [];
  const sightings = new Map<string, { firstSeenAt: number; sightings: number }>();
  try {
    // The runtime first: what is made meanwhile has its record by the time the records are read.
    const held = await world.runtime.list();
    // Before the records: one that is claimed meanwhile is found in either of the two.
    const warm = new Set((await world.warmPool.held()).map(({ sandboxId }) => sandboxId));
    const rows = await world.records.sandboxes({ host });
    const living = new Set(rows.map(({ sandboxId }) => sandboxId));
    for (const { sandboxId, generation } of distinct(held)) {
      if (warm.has(sandboxId) || living.has(sandboxId)) continue;
      if (!isOrphan(await world.records.sandbox(sandboxId))) continue;
      const seen = seenAgain(before.get(sandboxId), world.clock.now());
      sightings.set(sandboxId, seen);
      if (!isDue(seen, world.clock.now())) continue;
      const problem = await removeOrphan(world, { sandboxId, generation });
      if (problem === null) {
        sightings.delete(sandboxId);
        done.push(`removed sandbox ${sandboxId}, which no record knew`);
      } else problems.push(problem);
    }
    problems.push(...lost(rows, new Set(held.map(({ sandboxId }) => sandboxId))));
    const leftovers = await world.runtime.removeLeftovers?.();
    done.push(...(leftovers ?? []).map((line) => `removed ${line}, which belonged to no sandbox`));
  } catch (error) {
    problems.push(`Cannot compare store and runtime: ${reasonOf(error)}`);
    return { sightings: before, done, problems };
  }
  return { sightings, done, problems };
}

/** No record, or one whose life is over: no command will ever concern this sandbox again. */
function isOrphan(row: SandboxRow | null): boolean {
  return row === null || (row.status === 'MISSING' && row.transition === null);
}

function seenAgain(
  before: { readonly firstSeenAt: number; readonly sightings: number } | undefined,
  now: number,
): { firstSeenAt: number; sightings: number } {
  // A clock that was set back must not make an old sighting older.
  const firstSeenAt = Math.min(before?.firstSeenAt ?? now, now);
  return { firstSeenAt, sightings: (before?.sightings ?? 0) + 1 };
}

function isDue(seen: { readonly firstSeenAt: number; readonly sightings: number }, now: number): boolean {
  return seen.sightings >= SIGHTINGS_MIN && now - seen.firstSeenAt >= GRACE_MS;
}

interface Orphan {
  readonly sandboxId: SandboxId;
  readonly generation: number;
}

/** Archive, mark, delete (D12): a workspace whose archive fails stays, and the next sweep tries again. */
async function removeOrphan(world: SweptWorld, { sandboxId, generation }: Orphan): Promise<string | null> {
  try {
    const archives = await world.archives.archives(sandboxId);
    // Generation 0: a directory that never became a sandbox holds no work.
    if (generation > 0 && !archives.some((archive) => archive.generation >= generation)) {
      const blobKey = `archives/${sandboxId}/${generation}.tgz`;
      const { sha256, bytes } = await world.blobs.put(blobKey, world.runtime.exportWorkspace(sandboxId));
      const at = world.clock.now();
      await world.archives.putArchive({ sandboxId, generation, blobKey, sha256, bytes, at });
    }
    await world.runtime.destroy(sandboxId);
    const about = { machine: 'sandbox', id: sandboxId } as const;
    const detail = `generation ${generation} was removed: no record knew it`;
    await world.lifecycle.record(
      { about, conversationId: null, code: 'orphan_removed', detail },
      world.clock.now(),
    );
    return null;
  } catch (error) {
    return `Cannot remove sandbox ${sandboxId}, which no record knows: ${reasonOf(error)}`;
  }
}

/** Files that should be kept and are not there: a resume would begin with an empty workspace. */
function lost(rows: readonly SandboxRow[], held: ReadonlySet<SandboxId>): readonly string[] {
  return rows
    .filter((row) => isReleased(row) && !held.has(row.sandboxId))
    .map(({ sandboxId: id }) => `The files of sandbox ${id} are gone: the runtime does not hold it any more`);
}

/** A list may show a sandbox twice. */
function distinct(held: readonly Orphan[]): readonly Orphan[] {
  return [...new Map(held.map((one) => [one.sandboxId, one] as const)).values()];
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
