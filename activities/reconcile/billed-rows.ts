/**
 * The rows that a run is reconciled with: the gateway's own, a saved export, or our proxy's.
 * Owns the choice by the plan; must not join them.
 */
import type { PlanReconcile } from '../../core/plan.ts';
import type { GatewayRow, SpendRow } from '../../core/spend.ts';
import type { World } from '../world.ts';
import type { Interval } from './run-calls.ts';

export type RowsSource = PlanReconcile['rows'];

export interface RowsQuestion {
  readonly source: RowsSource;
  readonly interval: Interval;
  /** Calls of the run's conversations. */
  readonly ownCalls: readonly SpendRow[];
}

/** @throws ParleyError export_unavailable, export_invalid */
export function billedRows(
  world: World,
  { source, interval, ownCalls }: RowsQuestion,
): Promise<readonly GatewayRow[]> {
  switch (source.from) {
    case 'gateway':
      return world.gatewayExport.rows(interval);
    case 'file':
      return world.gatewayExport.fileRows(source.path);
    case 'proxy':
      return Promise.resolve(proxyRows(ownCalls));
  }
}

/** Unpriced calls are no rows: an amount that nobody knows is not 0 (D26). The report counts them. */
function proxyRows(calls: readonly SpendRow[]): readonly GatewayRow[] {
  return calls
    .flatMap((call) => (call.cost === null ? [] : [{ call, cost: call.cost }]))
    .map(({ call, cost }, index) => ({
      responseId: call.responseId,
      startedAt: call.startedAt,
      endedAt: call.endedAt ?? call.startedAt,
      model: call.upstreamModel,
      sessionId: call.sessionId,
      tags: [],
      keyName: null,
      promptTokens: call.promptTokens ?? 0,
      completionTokens: call.completionTokens ?? 0,
      cost,
      metadataSessionId: null,
      position: index + 1,
    }));
}
