/**
 * Following a run from another process: its rows are polled until it is finished or rests.
 * Owns the polling; must not influence the run.
 */
import type { RunId } from '../core/ids.ts';
import type { RunItemRow, RunRow } from '../core/machine/projection.ts';
import type { Host, Reader } from '../host/host-port.ts';
import { isResting } from '../core/run/run-words.ts';
import type { Shell } from '../host/shell.ts';
import { sleep } from '../runtimes/on-host/wait.ts';

/** A person sees no difference to "at once", and the store hardly notices. */
const POLL_MS = 500;

export interface Follow {
  readonly shell: Pick<Shell, 'clock'>;
  readonly reader: Reader;
  readonly runId: RunId;
  readonly signal: AbortSignal;
  /** A service that pushes changes; absent or null: rows are polled. */
  readonly host?: Host | null;
  onRows(row: RunRow, items: readonly RunItemRow[]): void | Promise<void>;
}

/** The last row seen; null when the run does not exist. Ends early when `signal` aborts. */
export async function followRun(follow: Follow): Promise<RunRow | null> {
  const { shell, reader, runId, signal, onRows, host = null } = follow;
  if (host !== null) return await followAtServer(follow, host);
  for (;;) {
    const row = await reader.run(runId);
    if (row === null) return null;
    await onRows(row, await reader.runItems(runId));
    if (row.phase === 'finished' || isResting(row) || signal.aborted) return row;
    await sleep(shell.clock, POLL_MS, signal);
    if (signal.aborted) return row;
  }
}

/** The last row, also when the user stopped watching. */
async function followAtServer({ runId, signal, onRows }: Follow, host: Host): Promise<RunRow | null> {
  const last: { row: RunRow | null } = { row: null };
  const onChange = (row: RunRow, items: readonly RunItemRow[]): void => {
    last.row = row;
    void onRows(row, items);
  };
  try {
    return await host.waitForRun(runId, onChange, signal);
  } catch (error) {
    if (signal.aborted) return last.row ?? (await host.run(runId));
    throw error;
  }
}

/** A signal that aborts on Ctrl-C; `release` stops listening. */
export function interruptSignal(shell: Shell): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const release = shell.onInterrupt(() => controller.abort());
  return { signal: controller.signal, release };
}
