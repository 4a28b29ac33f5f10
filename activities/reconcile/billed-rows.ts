/**
 * The rows that a run is reconciled with: the gateway's own, a saved export, or our proxy's.
 * Owns the choice by the plan; must not join them.
 */
import { ZERO_USD } from '../../core/money.ts';
import type { PlanReconcile } from '../../core/plan.ts';
import type { GatewayRow, SpendRow } from '../../core/spend.ts';
import type { ExportReading } from '../../ports/gateway-export.ts';
import type { World } from '../world.ts';
import { callPages, type Interval } from './run-calls.ts';

export type RowsSource = PlanReconcile['rows'];

export interface RowsQuestion {
  readonly source: RowsSource;
  readonly interval: Interval;
  /** The run's conversations. */
  readonly conversationIds: ReadonlySet<string>;
  /** How a saved export is read. */
  readonly reading?: ExportReading;
}

/** In lists, one after the other: a saved export may be longer than the memory. @throws ParleyError export_unavailable, export_invalid */
export async function* billedRows(
  world: World,
  { source, interval, conversationIds, reading }: RowsQuestion,
): AsyncIterable<readonly GatewayRow[]> {
  switch (source.from) {
    case 'gateway':
      yield await world.gatewayExport.rows(interval);
      return;
    case 'file':
      yield* world.gatewayExport.fileRows(source.path, reading);
      return;
    case 'proxy':
      yield* proxyRows(callPages(world, interval), conversationIds);
  }
}

/** An amount that nobody knows is not 0: such a row is marked, and is in no amount (D26). */
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
