/**
 * The rows that a run is reconciled with: the gateway's own, a saved export, or our proxy's.
 * Owns the choice by the plan; must not join them.
 */
import { ZERO_USD } from '../../core/money.ts';
import type { PlanReconcile } from '../../core/plan.ts';
import type { GatewayRow, SpendRow } from '../../core/spend.ts';
import type { ExportReading } from '../../ports/gateway-export.ts';
import type { World } from '../world.ts';
import type { Interval } from './run-calls.ts';

export type RowsSource = PlanReconcile['rows'];

export interface RowsQuestion {
  readonly source: RowsSource;
  readonly interval: Interval;
  /** Calls of the run's conversations. */
  readonly ownCalls: readonly SpendRow[];
  /** How a saved export is read. */
  readonly reading?: ExportReading;
}

/** @throws ParleyError export_unavailable, export_invalid */
export function billedRows(
  world: World,
  { source, interval, ownCalls, reading }: RowsQuestion,
): Promise<readonly GatewayRow[]> {
  switch (source.from) {
    case 'gateway':
      return world.gatewayExport.rows(interval);
    case 'file':
      return world.gatewayExport.fileRows(source.path, reading);
    case 'proxy':
      return Promise.resolve(proxyRows(ownCalls));
  }
}

/** An amount that nobody knows is not 0: such a row is marked, and is in no amount (D26). */
function proxyRows(calls: readonly SpendRow[]): readonly GatewayRow[] {
  return calls.map((call, index) => ({
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
    position: index + 1,
  }));
}
