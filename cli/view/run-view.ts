/**
 * How a run is shown while it goes on, and which of the three ways is taken.
 * Owns the interface and the choice; each way is a file of its own.
 */
import type { SandboxId } from '../../core/ids.ts';
import type { RunItemRow, RunRow } from '../../core/projection.ts';
import { openRecords } from '../print/records.ts';
import type { Shell } from '../shell.ts';
import { jsonView } from './json-view.ts';
import { plainView } from './plain-view.ts';

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

export interface ViewOptions {
  readonly shell: Shell;
  readonly json: boolean;
  readonly plain: boolean;
  /** For the idle column; epoch milliseconds or null. */
  lastActivityAt(sandboxId: SandboxId): Promise<number | null>;
}

/** A live table needs a terminal that people watch: not `--json`, not `--plain`, not a CI. */
export async function openRunView(options: ViewOptions): Promise<RunView> {
  const { shell, json, plain } = options;
  if (json) return jsonView(openRecords(shell.stdout), shell.stderr);
  const isLive = !plain && shell.stderr.isTTY === true && !shell.env['CI'] && shell.env['TERM'] !== 'dumb';
  if (!isLive) return plainView(shell);
  const { liveView } = await import('./live-view.ts');
  return liveView({ shell, lastActivityAt: (id) => options.lastActivityAt(id) });
}
