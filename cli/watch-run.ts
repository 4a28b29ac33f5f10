/**
 * Following a run from beside: rows are read again and again until it is finished or rests.
 * Owns the polling; must not influence the run.
 */
import type { RunId } from '../core/ids.ts';
import type { RunItemRow, RunRow } from '../core/projection.ts';
import type { Reader } from './host-port.ts';
import { isResting } from './print/run-words.ts';
import { pause, type Shell } from './shell.ts';

/** A person sees no difference to "at once", and the store hardly notices. */
const POLL_MS = 500;

export interface Follow {
  readonly shell: Pick<Shell, 'clock'>;
  readonly reader: Reader;
  readonly runId: RunId;
  readonly signal: AbortSignal;
  onRows(row: RunRow, items: readonly RunItemRow[]): void | Promise<void>;
}

/** The last row seen; null when the run does not exist. Ends early when `signal` aborts. */
export async function followRun({ shell, reader, runId, signal, onRows }: Follow): Promise<RunRow | null> {
  for (;;) {
    const row = await reader.run(runId);
    if (row === null) return null;
    await onRows(row, await reader.runItems(runId));
    if (row.phase === 'finished' || isResting(row) || signal.aborted) return row;
    await pause(shell.clock, POLL_MS, signal);
    if (signal.aborted) return row;
  }
}

/** A signal that aborts on Ctrl-C; `release` stops listening. */
export function interruptSignal(shell: Shell): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const release = shell.onInterrupt(() => controller.abort());
  return { signal: controller.signal, release };
}
