/**
 * Which way a run is shown: records, lines, or a live table.
 * Owns the choice; each way is a file of its own, and the table is loaded only when it is drawn.
 */
import type { SandboxId } from '../../core/ids.ts';
import { openRecords } from '../print/records.ts';
import type { Shell } from '../shell.ts';
import { jsonView } from './json-view.ts';
import { plainView } from './plain-view.ts';
import type { RunView } from './run-view.ts';

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
