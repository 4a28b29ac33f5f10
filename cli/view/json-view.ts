/**
 * A run as records: one for the run and one for each item, whenever it changes.
 * Owns what counts as a change; must not print for people, but for notices.
 */
import type { RunItemRow, RunRow } from '../../core/projection.ts';
import { itemRecord, runRecord, type RecordStream } from '../print/records.ts';
import { printable } from '../print/terminal-text.ts';
import type { TextStream } from '../shell.ts';
import type { RunView } from './run-view.ts';

export function jsonView(records: RecordStream, stderr: TextStream): RunView {
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
