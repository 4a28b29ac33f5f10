/**
 * Which way a run is shown: records, lines, or a live table.
 * Owns the choice; each way is a file of its own, and the table is loaded only when it is drawn.
 */
import type { SandboxId } from '../../core/ids.ts';
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';
import { printable } from '../../host/terminal-text.ts';
import { type RecordStream, itemRecord, openRecords, runRecord } from '../../host/records.ts';
import type { Shell, TextStream } from '../../host/shell.ts';
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

/** A run as records: one for the run and one for each item, whenever it changes. */
function jsonView(records: RecordStream, stderr: TextStream): RunView {
  const seen = new Map<string, string>();
  const write = (key: string, record: ReturnType<typeof runRecord>): void => {
    const text = JSON.stringify(record);
    if (seen.get(key) === text) return;
    seen.set(key, text);
    records.write(record);
  };
  return {
    launched: (launch) =>
      records.write({
        type: 'launch',
        run_id: launch.runId,
        name: launch.name,
        plan_hash: launch.planHash,
        items: launch.itemCount,
        results: launch.results,
      }),
    notice(text) {
      records.write({ type: 'notice', text });
      stderr.write(`${printable(text)}\n`);
    },
    changed(row: RunRow, items: readonly RunItemRow[]) {
      for (const item of items) write(`item ${item.key}`, itemRecord(item));
      write('run', runRecord(row));
    },
    close: () => undefined,
  };
}
