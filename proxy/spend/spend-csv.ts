/**
 * Spend rows as CSV.
 * Owns the columns and the quoting; a cell never begins a formula in a spreadsheet.
 */
import type { SpendRow } from '../../core/money/spend.ts';

type Cell = string | number | boolean | null | undefined;

const COLUMNS: Readonly<Record<string, (row: SpendRow) => Cell>> = {
  call_id: (row) => row.callId,
  state: (row) => row.state,
  started_at: (row) => instant(row.startedAt),
  ended_at: (row) => (row.endedAt === null ? null : instant(row.endedAt)),
  route: (row) => row.route,
  model: (row) => row.modelName,
  upstream_model: (row) => row.upstreamModel,
  streamed: (row) => row.streamed,
  http_status: (row) => row.httpStatus,
  response_id: (row) => row.responseId,
  session_id: (row) => row.sessionId,
  user: (row) => row.user,
  key: (row) => row.keyName,
  team: (row) => row.team,
  prompt_tokens: (row) => row.promptTokens,
  completion_tokens: (row) => row.completionTokens,
  cached_tokens: (row) => row.cachedTokens,
  cost_nano_usd: (row) => row.cost,
  cost_source: (row) => row.costSource,
  tags: (row) => (row.tags === undefined ? null : JSON.stringify(row.tags)),
  metadata: (row) => (row.metadata === null ? null : JSON.stringify(row.metadata)),
};

export const CSV_HEADER = `${Object.keys(COLUMNS).join(',')}\r\n`;

export function csvLine(row: SpendRow): string {
  const cells = Object.values(COLUMNS).map((read) => cellText(read(row)));
  return `${cells.join(',')}\r\n`;
}

function instant(at: number): string {
  return new Date(at).toISOString();
}

/** An apostrophe before what a spreadsheet would compute; a negative number never stands here. */
function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
