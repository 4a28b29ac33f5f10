/**
 * Waiting for a run, and reporting what changed.
 * Owns when a run counts as at rest; the rows themselves come from the store.
 */
import type { RunId } from '../core/ids.ts';
import type { RunItemRow, RunRow } from '../core/machine/projection.ts';
import type { RecordStore } from '../ports/record-store.ts';
import { isResting } from '../core/run/run-words.ts';

/** Changes are reported at most this often: a reader sees no more, and a large batch changes all the time. */
const TELL_EVERY_MS = 100;

/** Trouble is no commit of the run: it is polled for, and seen within a second (D32). */
const POLL_EVERY_MS = 1_000;

export interface RunWatch {
  /** To be called after every commit. */
  poke(): void;
  /** Ends every wait, now and later: the engine cannot go on. */
  fail(error: Error): void;
  /** Resolves when the run is finished, at rest with nothing in flight, or the signal is aborted. */
  wait(
    runId: RunId,
    onChange: (row: RunRow, items: readonly RunItemRow[]) => void,
    signal: AbortSignal,
  ): Promise<RunRow>;
}

export function createRunWatch(records: Pick<RecordStore, 'run' | 'runItems'>): RunWatch {
  const waiting: (() => void)[] = [];
  const failure: { error: Error | null } = { error: null };
  const poked = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.push(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  const poke = (): void => {
    for (const wake of waiting.splice(0)) wake();
  };
  return {
    poke,
    fail(error) {
      failure.error ??= error;
      poke();
    },
    async wait(runId, onChange, signal) {
      let told = '';
      const looking = setInterval(poke, POLL_EVERY_MS);
      looking.unref();
      try {
        for (;;) {
          const changed = poked(signal);
          const row = await records.run(runId);
          const state = JSON.stringify([row?.sequence, row?.trouble]);
          if (row !== null && state !== told) {
            told = state;
            onChange(row, await records.runItems(runId));
          }
          if (row !== null && (isAtRest(row) || signal.aborted)) return row;
          if (failure.error !== null) throw failure.error;
          await changed;
          if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, TELL_EVERY_MS));
        }
      } finally {
        clearInterval(looking);
      }
    },
  };
}

/** Whether a run does nothing more without a request. */
export function isAtRest(row: RunRow): boolean {
  if (row.phase === 'finished') return true;
  return isResting(row);
}
