/**
 * `GET /spend/logs` and `GET /spend/daily`, for the master key.
 * Owns the paging and the form of the reply; must not round anything.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { SpendRow } from '../../core/money/spend.ts';
import type { SpendLog, SpendQuery } from '../../ports/spend-log.ts';
import { failure } from '../failure.ts';
import { sendFailure, sendJson, type Exchange } from '../relay/http-exchange.ts';
import { SPEND_PAGE_ROWS } from '../limits.ts';
import type { ProxyParts } from '../proxy-parts.ts';
import { cursorOf, instantOf, readExportQuery, type ExportQuery } from './spend-query.ts';

/** What waits in the spool is flushed first, so that a call that has ended is in the reply. */
export async function exportSpend(parts: ProxyParts, exchange: Exchange): Promise<void> {
  const query = readExportQuery(exchange.url.searchParams);
  if ('code' in query) return sendFailure(exchange.res, query);
  await parts.writer.flush();
  await orUnavailable(parts, exchange, async () => {
    if (query.limit === null) await writeAll(parts.spend, query, exchange.res);
    else await writePage(parts, { ...query, limit: query.limit }, exchange.res);
  });
}

async function orUnavailable(parts: ProxyParts, { res }: Exchange, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    parts.log.warn({ cause: String(cause) }, 'Cannot read spend rows');
    const message = 'Cannot read spend rows: the store did not answer';
    if (res.headersSent) res.destroy();
    else sendFailure(res, failure('store_unavailable', message));
  }
}

const TYPES = { jsonl: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' } as const;

/** All rows, a page at a time, so that neither side ever holds them all. */
async function writeAll(spend: SpendLog, query: ExportQuery, res: ServerResponse): Promise<void> {
  let { after } = query.filter;
  for (;;) {
    const filter: SpendQuery = { ...query.filter, limit: SPEND_PAGE_ROWS };
    const rows = await spend.search(after === undefined ? filter : { ...filter, after });
    if (!res.headersSent) begin(res, query);
    if (res.destroyed) return;
    const hasRoom = res.write(rows.map(lineOf(query)).join(''));
    const last = rows.at(-1);
    if (last === undefined || rows.length < SPEND_PAGE_ROWS) break;
    after = { startedAt: last.startedAt, callId: last.callId };
    if (!hasRoom) await Promise.race([once(res, 'drain'), once(res, 'close')]);
  }
  res.end();
}

/** One page, and in a header where the next begins; without that header there is none. */
async function writePage(
  parts: ProxyParts,
  query: ExportQuery & { readonly limit: number },
  res: ServerResponse,
): Promise<void> {
  // One row more says whether there is another page; the largest page asks for an empty one instead.
  const isLargest = query.limit === SPEND_PAGE_ROWS;
  const found = await parts.spend.search({ ...query.filter, limit: query.limit + (isLargest ? 0 : 1) });
  const rows = found.slice(0, query.limit);
  const last = rows.at(-1);
  const hasMore = isLargest ? found.length === query.limit : found.length > query.limit;
  if (last !== undefined && hasMore) res.setHeader(`x-${parts.vendor}-next-cursor`, cursorOf(last));
  begin(res, query);
  res.end(rows.map(lineOf(query)).join(''));
}

/** The header of a CSV comes before the first page only, so that pages can be joined. */
function begin(res: ServerResponse, query: ExportQuery): void {
  res.writeHead(200, { 'content-type': TYPES[query.format] });
  if (query.format === 'csv' && query.filter.after === undefined) res.write(CSV_HEADER);
}

function lineOf(query: ExportQuery): (row: SpendRow) => string {
  return query.format === 'csv' ? csvLine : (row) => `${JSON.stringify(row)}\n`;
}

/** Totals by day, model, key, team and user; `from` and `to` are instants, and whole UTC days count. */
export async function showDaily(parts: ProxyParts, exchange: Exchange): Promise<void> {
  const { accounts } = parts;
  if (accounts === null)
    return sendFailure(exchange.res, failure('not_found', 'Cannot sum spend: this proxy keeps no totals'));
  const query = exchange.url.searchParams;
  const [from, to] = [instantOf(query.get('from') ?? '0'), instantOf(query.get('to') ?? String(FAR))];
  if (from === null || to === null) {
    const name = from === null ? 'from' : 'to';
    const message = `Cannot read "${name}": it is neither milliseconds nor an ISO instant`;
    return sendFailure(exchange.res, failure('invalid_request', message, name));
  }
  await parts.writer.flush();
  await orUnavailable(parts, exchange, async () => {
    const days = await accounts.daily({ from, to });
    const data = days.map(({ day, cost, ...rest }) => ({
      day: new Date(day).toISOString().slice(0, 10),
      ...rest,
      costNanoUsd: cost,
    }));
    sendJson(exchange.res, 200, { data });
  });
}

/** After every call that will ever be made; a safe integer for both dialects. */
const FAR = 8_640_000_000_000_000;

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
