/**
 * One frame of the live table as text: header, the items that matter, fitted to the terminal.
 * Owns layout and colour; pure, so that every width is a row in a test.
 */
import { endedWell } from '../../core/status.ts';
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';
import { duration, usd } from '../../core/text/amounts.ts';
import {
  cleaningUp,
  countEnded,
  countUnsuccessful,
  itemState,
  limitInForce,
  runState,
  shortId,
  troubleText,
} from '../../core/run/run-words.ts';
import { cut, padded, printable } from '../../host/terminal-text.ts';

export interface Frame {
  readonly row: RunRow;
  readonly items: readonly RunItemRow[];
  /** Epoch milliseconds of the last activity by sandbox; absent where unknown. */
  readonly activity: ReadonlyMap<string, number>;
  /** The newest notice, or null. */
  readonly notice: string | null;
  readonly now: number;
  readonly columns: number;
  readonly rows: number;
  readonly color: boolean;
}

interface Column {
  readonly title: string;
  readonly width: number;
  readonly side: 'left' | 'right';
  cell(item: RunItemRow, frame: Frame): string;
}

const COLUMNS: readonly Column[] = [
  { title: 'state', width: 22, side: 'left', cell: itemState },
  { title: 'sandbox', width: 8, side: 'left', cell: (item) => shortId(item.sandboxId) },
  { title: 'elapsed', width: 7, side: 'right', cell: (item, { now }) => duration(elapsed(item, now)) },
  { title: 'idle', width: 6, side: 'right', cell: idle },
  { title: 'spend', width: 10, side: 'right', cell: (item) => usd(item.costNanoUsd) },
];
/** In this order they give way on a narrow terminal. */
const GIVING_WAY = ['sandbox', 'idle', 'elapsed', 'spend'];
const KEY_WIDTH_MIN = 16;
const KEY_WIDTH_MAX = 60;
/** Header, titles, the line of what is not shown, the notice, and one line that the cursor stands on. */
const FIXED_LINES = 5;

/** Lines without a line break at the end. */
export function drawTable(frame: Frame): string {
  const columns = chooseColumns(frame.columns);
  const keyWidth = keyWidthOf(frame, columns);
  const { trouble = null } = frame.row;
  const room = Math.max(1, frame.rows - FIXED_LINES - (trouble === null ? 0 : 1));
  const sorted = [...frame.items].sort(byInterest);
  const shown = sorted.slice(0, room);
  const titles = columns.map(({ title, width, side }) => padded(title, width, side));
  const lines = [
    paint(header(frame), 'bold', frame.color),
    paint([padded('key', keyWidth, 'left'), ...titles].join('  ').trimEnd(), 'dim', frame.color),
    ...shown.map((item) => itemLine(item, { frame, columns, keyWidth })),
  ];
  if (sorted.length > shown.length)
    lines.push(cut(`and ${sorted.length - shown.length} more`, frame.columns));
  if (trouble !== null)
    lines.push(paint(cut(printable(troubleText(trouble)), frame.columns), 'yellow', frame.color));
  if (frame.notice !== null) lines.push(paint(cut(frame.notice, frame.columns), 'yellow', frame.color));
  return lines.join('\n');
}

function header(frame: Frame): string {
  const { row, now } = frame;
  const counts = [
    `done ${countEnded(row)}/${row.total}`,
    `running ${row.inFlight}`,
    `waiting ${row.waiting}`,
    `failed ${countUnsuccessful(row)}`,
    `spend ${usd(row.spentNanoUsd)}`,
    duration((row.endedAt ?? now) - row.createdAt),
  ];
  const limit = limitInForce(row);
  if (limit !== null) counts.splice(3, 0, `limit ${limit}`);
  const left = cleaningUp(row, frame.items);
  if (left !== null) counts.splice(3, 0, left);
  const state = runState(row) === 'running' ? '' : `[${runState(row)}] `;
  return cut(`${state}${counts.join('  ')}  ${row.runId}`, frame.columns);
}

function itemLine(
  item: RunItemRow,
  {
    frame,
    columns,
    keyWidth,
  }: { readonly frame: Frame; readonly columns: readonly Column[]; readonly keyWidth: number },
): string {
  const cells = columns.map((column) => padded(column.cell(item, frame), column.width, column.side));
  const line = [padded(item.key, keyWidth, 'left'), ...cells].join('  ').trimEnd();
  return paint(cut(line, frame.columns), colorOf(item), frame.color);
}

function chooseColumns(width: number): readonly Column[] {
  let columns = COLUMNS;
  for (const title of GIVING_WAY) {
    if (widthOf(columns) + KEY_WIDTH_MIN <= width) break;
    columns = columns.filter((column) => column.title !== title);
  }
  return columns;
}

function widthOf(columns: readonly Column[]): number {
  return columns.reduce((sum, column) => sum + column.width + 2, 0);
}

function keyWidthOf(frame: Frame, columns: readonly Column[]): number {
  const longest = frame.items.reduce((most, item) => Math.max(most, item.key.length), 3);
  const room = frame.columns - widthOf(columns);
  return Math.max(3, Math.min(longest, room, KEY_WIDTH_MAX));
}

/** What works comes first, then what went wrong, then what waits, then what is done. */
function byInterest(a: RunItemRow, b: RunItemRow): number {
  return interest(a) - interest(b);
}

function interest(item: RunItemRow): number {
  if (item.phase === 'waiting') return 2;
  if (item.phase !== 'ended') return 0;
  return endedWell(item.outcome) ? 3 : 1;
}

function elapsed(item: RunItemRow, now: number): number | null {
  return item.admittedAt === null ? null : (item.endedAt ?? now) - item.admittedAt;
}

function idle(item: RunItemRow, { activity, now }: Frame): string {
  const at = item.sandboxId === null || item.phase === 'ended' ? undefined : activity.get(item.sandboxId);
  return at === undefined ? '-' : duration(now - at);
}

type Color = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'plain';

const SGR: Readonly<Record<Exclude<Color, 'plain'>, number>> = {
  bold: 1,
  dim: 2,
  green: 32,
  red: 31,
  yellow: 33,
};

function colorOf(item: RunItemRow): Color {
  if (item.phase === 'waiting') return 'dim';
  if (item.phase !== 'ended') return 'plain';
  if (item.outcome === 'not_needed') return 'dim';
  return item.outcome === 'succeeded' ? 'green' : 'red';
}

function paint(text: string, color: Color, enabled: boolean): string {
  return !enabled || color === 'plain' || text === '' ? text : `\u001b[${SGR[color]}m${text}\u001b[0m`;
}
