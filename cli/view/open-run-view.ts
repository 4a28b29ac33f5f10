/**
 * Which way a run is shown: records, lines, or a live table.
 * Owns the choice; each way is a file of its own, and the table is loaded only when it is drawn.
 */
import type { SandboxId } from '../../core/ids.ts';
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';
import {
  cleaningUp,
  itemState,
  limitInForce,
  runCounts,
  runState,
  shortId,
  troubleText,
} from '../../core/run/run-words.ts';
import { duration, timeOfDay, usd } from '../../core/text/amounts.ts';
import { SECOND_MS } from '../../core/time.ts';
import { printable, cut } from '../../host/terminal-text.ts';
import { type RecordStream, itemRecord, openRecords, runRecord } from '../../host/records.ts';
import type { Shell, TextStream } from '../../host/shell.ts';
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

/** Often enough to see that it lives, seldom enough to be read. */
const SUMMARY_MS = 30 * SECOND_MS;
/** A reason is a sentence; the whole of it is in the report. */
const DETAIL_WIDTH = 160;

/** A run as lines: one for each change of a state, and a summary twice a minute. */
export function plainView({ clock, stdout, stderr }: Pick<Shell, 'clock' | 'stdout' | 'stderr'>): RunView {
  const states = new Map<string, string>();
  let row: RunRow | null = null;
  let all: readonly RunItemRow[] = [];
  const say = (text: string): void => {
    stderr.write(`${timeOfDay(clock.now())} ${printable(text)}\n`);
  };
  const summarise = (): void => {
    if (row !== null) say(`${runState(row)}: ${summaryOf(row, all)}`);
    timer = clock.setTimer(clock.now() + SUMMARY_MS, summarise);
  };
  let timer = clock.setTimer(clock.now() + SUMMARY_MS, summarise);
  const sayChange = (key: string, state: string, line: string): void => {
    if (states.get(key) === state) return;
    states.set(key, state);
    say(line);
  };
  return {
    launched(launch) {
      stdout.write(`run ${launch.runId}\n`);
      say(`conversations: ${launch.itemCount}, plan ${launch.planHash.slice(0, 12)}`);
    },
    notice: say,
    changed(changed, items) {
      row = changed;
      all = items;
      for (const item of items) {
        if (item.phase === 'waiting' && item.attempt === 0) continue;
        sayChange(`item ${item.key}`, itemState(item), itemLine(item));
      }
      const state = runState(changed);
      sayChange('run', state, `run: ${state}`);
      const { trouble = null } = changed;
      if (trouble === null && !states.has('trouble')) return;
      // Its first try and another cause are news; each further try is in the summary.
      sayChange(
        'trouble',
        trouble?.cause ?? '',
        trouble === null ? 'the trouble is over' : troubleText(trouble),
      );
    },
    close: () => timer.cancel(),
  };
}

function summaryOf(row: RunRow, items: readonly RunItemRow[]): string {
  const limit = limitInForce(row);
  const left = cleaningUp(row, items);
  const facts = [
    runCounts(row),
    `spend ${usd(row.spentNanoUsd)}`,
    ...(limit === null ? [] : [`limit ${limit}`]),
    ...(left === null ? [] : [left]),
    ...(row.trouble == null ? [] : [cut(troubleText(row.trouble), DETAIL_WIDTH)]),
  ];
  return facts.join(', ');
}

function itemLine(item: RunItemRow): string {
  const facts: string[] = [];
  if (item.phase !== 'ended' && item.sandboxId !== null) facts.push(`sandbox ${shortId(item.sandboxId)}`);
  if (item.phase === 'ended' && item.admittedAt !== null && item.endedAt !== null) {
    facts.push(duration(item.endedAt - item.admittedAt));
  }
  if (item.phase === 'ended' && item.costNanoUsd !== null) facts.push(usd(item.costNanoUsd));
  if (item.trouble != null) facts.push(cut(troubleText(item.trouble), DETAIL_WIDTH));
  if (item.detail !== null) facts.push(cut(item.detail, DETAIL_WIDTH));
  return `${item.key}: ${itemState(item)}${facts.length === 0 ? '' : `, ${facts.join(', ')}`}`;
}
