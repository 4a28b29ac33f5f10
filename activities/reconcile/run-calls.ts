/**
 * Every call that our proxy recorded during a run, by any caller.
 * Owns the interval and the paging; calls of others are needed too, because they explain rows that are not ours.
 */
import { setImmediate as eventLoopTick } from 'node:timers/promises';
import type { RunId } from '../../core/ids.ts';
import type { RunRow } from '../../core/machine/projection.ts';
import { lossWithin, type SpendLoss } from '../../core/money/spend-loss.ts';
import type { JoinableCall, SpendRow } from '../../core/money/spend.ts';
import type { Interval } from '../../core/reconcile/reconciliation-record.ts';
import type { CallPage } from '../../ports/spend-log.ts';
import type { World } from '../world.ts';

const PAGE_ROWS = 1_000;

/** From a little before the run began to a little after it ended, or after now: clocks differ by that much. */
export function intervalOf(
  run: RunRow,
  tolerance: { readonly windowBeforeMs: number; readonly windowAfterMs: number; readonly now: number },
): Interval {
  const end = run.endedAt ?? tolerance.now;
  return { from: run.createdAt - tolerance.windowBeforeMs, to: end + tolerance.windowAfterMs + 1 };
}

/** Page by page: there may be millions, and no caller needs them all at once. */
export function callPages(
  world: Pick<World, 'spend'>,
  interval: Interval,
): AsyncIterable<readonly SpendRow[]> {
  return pages((page) => world.spend.search(page), interval);
}

/** The same calls, with what joining needs of them. A page is used before the next one is read. */
export async function* joinablePages(
  world: World,
  interval: Interval,
): AsyncIterable<readonly JoinableCall[]> {
  for await (const page of pages((asked) => world.spend.joinable(asked), interval)) {
    yield page;
    // Its promises may be in the old generation, and what those hold survives every garbage collection but a full one:
    // with a thread beside it, the heap grew to three times its live data.
    page.length = 0;
  }
}

/** Yields whole pages: one promise for each of a million calls takes longer than reading them. */
async function* pages<Page extends readonly JoinableCall[]>(
  read: (page: CallPage) => Promise<Page>,
  interval: Interval,
): AsyncIterable<Page> {
  for (let after: CallPage['after'] | null = null; ;) {
    const page: Page = await read({
      ...interval,
      limit: PAGE_ROWS,
      ...(after == null ? {} : { after }),
    });
    // Read before the page is yielded: the caller may empty it.
    const [last, { length }] = [page.at(-1), page];
    yield page;
    // SQLite answers within the same turn: unless it ends, no thread starts, and no other request is served.
    await eventLoopTick();
    if (last === undefined || length < PAGE_ROWS) return;
    after = { startedAt: last.startedAt, callId: last.callId };
  }
}

export async function callsWithin(
  world: Pick<World, 'spend'>,
  interval: Interval,
): Promise<readonly SpendRow[]> {
  const calls: SpendRow[] = [];
  for await (const page of callPages(world, interval)) calls.push(...page);
  return calls;
}

/** What is known to have been lost of an interval. */
export async function lostWithin(world: Pick<World, 'spend'>, interval: Interval): Promise<SpendLoss | null> {
  return lossWithin(await world.spend.losses(), interval);
}

/** The same for the time of a run; null too where there is no such run. */
export async function lostSpend(world: World, runId: RunId): Promise<SpendLoss | null> {
  const run = await world.records.run(runId);
  if (run === null) return null;
  return await lostWithin(world, { from: run.createdAt, to: (run.endedAt ?? world.clock.now()) + 1 });
}

/** Calls by the conversation that made them; calls without a conversation are left out. */
export function bySession(calls: readonly SpendRow[]): ReadonlyMap<string, readonly SpendRow[]> {
  const sessions = new Map<string, SpendRow[]>();
  for (const call of calls) {
    if (call.sessionId === null) continue;
    const known = sessions.get(call.sessionId);
    if (known === undefined) sessions.set(call.sessionId, [call]);
    else known.push(call);
  }
  return sessions;
}
