/**
 * Which trouble is shown now, and which entity has it (D32).
 * Owns the choice; must not end anything: the worker that retries decides that.
 */
import type { RunItemRow, RunRow } from './machine/projection.ts';
import { MINUTE_MS } from './time.ts';
import type { Trouble, TroubleOf } from './trouble.ts';

/** A try may take this long before it is reported; a worker that is silent for longer has stopped. */
const SILENCE_MAX_MS = 15 * MINUTE_MS;

/** Whether a trouble still holds: its next try is not long overdue. `now` in epoch milliseconds. */
export function isCurrent({ nextAt }: Trouble, now: number): boolean {
  return now <= nextAt + SILENCE_MAX_MS;
}

/** The oldest trouble of an item that has not ended: of its conversation, of its sandbox, or of its run on its behalf. */
export function troubleOfItem(open: readonly TroubleOf[], item: RunItemRow): Trouble | null {
  if (item.phase === 'ended') return null;
  return oldest(
    open.filter(({ about: { machine, id }, item: key }) => {
      switch (machine) {
        case 'conversation':
          return id === item.conversationId;
        case 'sandbox':
          return id === item.sandboxId;
        case 'run':
        case 'shard':
          return id === item.runId && key === item.key;
      }
    }),
  );
}

/** Its own, else the oldest of its items. */
export function troubleOfRun(
  open: readonly TroubleOf[],
  row: RunRow,
  items: readonly RunItemRow[],
): Trouble | null {
  if (row.phase === 'finished') return null;
  const own = open.filter(({ about, item }) => about.machine === 'run' && about.id === row.runId && !item);
  if (own.length > 0) return oldest(own);
  return oldest(items.flatMap((item) => troubleOfItem(open, item) ?? []));
}

function oldest(troubles: readonly Trouble[]): Trouble | null {
  const [first] = [...troubles].sort((a, b) => a.since - b.since);
  if (first === undefined) return null;
  const { what, cause, since, tries, nextAt } = first;
  return { what, cause, since, tries, nextAt };
}
