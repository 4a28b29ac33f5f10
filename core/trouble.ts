/**
 * Trouble with something outside while it lasts: what is tried, why it fails, since when, how often, and when again (D32).
 * Owns which trouble is current and whose it is; must not end anything: who retries decides that.
 */
import type { EntityAddress } from './ids.ts';
import type { RunItemRow, RunRow } from './projection.ts';
import { MINUTE_MS } from './time.ts';

export interface Trouble {
  /** The command that is tried again, or `model` for the calls of an agent. */
  readonly what: string;
  readonly cause: string;
  /** Epoch milliseconds of the first try that failed. */
  readonly since: number;
  /** Tries that failed in a row. */
  readonly tries: number;
  /** Epoch milliseconds of the next try. */
  readonly nextAt: number;
}

export interface TroubleOf extends Trouble {
  readonly about: EntityAddress;
  /** Key of the item, where a run tries something for one of its items. */
  readonly item: string | null;
}

/** A try may take this long before it is heard of; whoever retries and is silent for longer has gone. */
const SILENCE_MAX_MS = 15 * MINUTE_MS;

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
