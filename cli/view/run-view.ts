/**
 * How a run is shown while it goes on.
 * Owns the interface that every way implements; which one is taken is decided in open-run-view.ts.
 */
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';

export interface Launch {
  readonly runId: string;
  readonly name: string;
  readonly planHash: string;
  readonly itemCount: number;
  readonly results: string;
}

export interface RunView {
  /** Said once, before anything else, so that a run that is killed can be found again. */
  launched(launch: Launch): void;
  /** A warning, or an answer to Ctrl-C. */
  notice(text: string): void;
  changed(row: RunRow, items: readonly RunItemRow[]): void;
  /** Ends timers and gives the terminal back; nothing is shown afterwards. */
  close(): void;
}
