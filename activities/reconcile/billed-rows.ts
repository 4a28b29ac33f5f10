/**
 * The rows that a run is reconciled with: the gateway's own, a saved export, or our proxy's.
 * Owns the choice by the plan; must not join them.
 */
import { ZERO_USD } from '../../core/money/money.ts';
import type { Interval, RowsSource } from '../../core/reconcile/reconciliation-record.ts';
import type { GatewayRow, SpendRow } from '../../core/money/spend.ts';
import type { ExportReading } from '../../ports/gateway-export.ts';
import type { World } from '../world.ts';
import { callPages } from './run-calls.ts';

/** What the gateway has billed so far. */
export interface Bill {
  readonly rows: readonly GatewayRow[];
  /** When it was requested: every call on it was sent before the gateway answered. */
  readonly readAt: number;
}

export interface RowsQuestion {
  readonly source: RowsSource;
  readonly interval: Interval;
  /** Of the gateway, where it is the source. */
  readonly bill: Bill | null;
  /** The run's conversations. */
  readonly conversationIds: ReadonlySet<string>;
  /** How a saved export is read. */
  readonly reading?: ExportReading;
}

/** @throws ParleyError export_unavailable, export_invalid */
export async function readBill(world: World, interval: Interval): Promise<Bill> {
  const readAt = world.clock.now();
  return { readAt, rows: await world.gatewayExport.rows(interval) };
}

/** Groups to be read once: an export may exceed the memory. @throws ParleyError export_unavailable, export_invalid */
export async function* billedRows(
  world: World,
  { source, interval, bill, conversationIds, reading }: RowsQuestion,
): AsyncIterable<Iterable<GatewayRow>> {
  switch (source.from) {
    case 'gateway':
      yield (bill ?? (await readBill(world, interval))).rows;
      return;
    case 'file':
      yield* world.gatewayExport.fileRows(source.path, reading);
      return;
    case 'proxy':
      yield* proxyRows(callPages(world, interval), conversationIds);
  }
}

/** An unknown amount is not 0: such a row is marked, and is in no sum (D26). */
async function* proxyRows(
  pages: AsyncIterable<readonly SpendRow[]>,
  conversationIds: ReadonlySet<string>,
): AsyncIterable<readonly GatewayRow[]> {
  let position = 0;
  for await (const page of pages) {
    const own = page.filter(({ sessionId }) => sessionId !== null && conversationIds.has(sessionId));
    yield own.map((call) => {
      position += 1;
      return rowOf(call, position);
    });
  }
}

function rowOf(call: SpendRow, position: number): GatewayRow {
  return {
    responseId: call.responseId,
    startedAt: call.startedAt,
    endedAt: call.endedAt ?? call.startedAt,
    model: call.upstreamModel,
    sessionId: call.sessionId,
    tags: [],
    keyName: null,
    promptTokens: call.promptTokens ?? 0,
    completionTokens: call.completionTokens ?? 0,
    cost: call.cost ?? ZERO_USD,
    ...(call.cost === null ? { isUnpriced: true } : {}),
    metadataSessionId: null,
    position,
  };
}
