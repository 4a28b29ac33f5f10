/**
 * What is kept of a call besides its row: figures and one line of the log.
 * Owns the choice of facts; neither a key nor a text of the call is among them.
 */
import type { SpendRow } from '../../core/money/spend.ts';
import type { ProxyParts } from '../proxy-parts.ts';

/** Counts and logs a closed row; the model of a wildcard call is counted under "*". */
export function recordCall(parts: ProxyParts, row: SpendRow, listedName: string): void {
  if (row.state === 'open' || row.state === 'interrupted') return;
  parts.counters[row.state === 'cut' ? 'failed' : row.state] += 1;
  if (row.cost === null) parts.counters.unpriced += 1;
  parts.metrics.add(row, listedName);
  parts.log.info(
    {
      callId: row.callId,
      model: row.modelName,
      state: row.state,
      status: row.httpStatus,
      promptTokens: row.promptTokens,
      completionTokens: row.completionTokens,
      durationMs: (row.endedAt ?? row.startedAt) - row.startedAt,
    },
    'Model call ended',
  );
}
