/**
 * `GET /spend/logs`: spend rows as JSON lines, for the master key.
 * Owns the query and the paging; must not total or round anything.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { normalUuid } from '../core/ids.ts';
import type { SpendRow } from '../core/spend.ts';
import type { SpendLog, SpendQuery } from '../ports/spend-log.ts';
import { failure, type Failure } from './failure.ts';
import { sendFailure, type Exchange } from './http-exchange.ts';
import { SPEND_PAGE_ROWS } from './limits.ts';
import type { ProxyParts } from './proxy-parts.ts';

/** What waits in the spool is flushed first, so that a call that has ended is in the reply. */
export async function exportSpend(parts: ProxyParts, exchange: Exchange): Promise<void> {
  const query = readQuery(exchange.url.searchParams);
  if ('code' in query) return sendFailure(exchange.res, query);
  await parts.writer.flush();
  try {
    await writePages(parts.spend, query, exchange.res);
  } catch (cause) {
    parts.log.warn({ cause: String(cause) }, 'Cannot read spend rows');
    if (exchange.res.headersSent) exchange.res.destroy();
    else
      sendFailure(
        exchange.res,
        failure('store_unavailable', 'Cannot read spend rows: the store did not answer'),
      );
  }
}

/** `from` and `to` are epoch milliseconds or ISO instants, half-open; `session` is a conversation id in either form. */
function readQuery(params: URLSearchParams): SpendQuery | Failure {
  const query: { from?: number; to?: number; sessionId?: string; limit: number } = { limit: SPEND_PAGE_ROWS };
  for (const name of ['from', 'to'] as const) {
    const text = params.get(name);
    if (text === null) continue;
    const instant = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
    if (!Number.isSafeInteger(instant)) {
      return failure(
        'invalid_request',
        `Cannot read "${name}": "${text}" is neither milliseconds nor an ISO instant`,
        name,
      );
    }
    query[name] = instant;
  }
  const session = params.get('session');
  if (session !== null) query.sessionId = normalUuid(session);
  return query;
}

async function writePages(spend: SpendLog, query: SpendQuery, res: ServerResponse): Promise<void> {
  let after: SpendQuery['after'];
  for (;;) {
    const rows = await spend.search(after === undefined ? query : { ...query, after });
    if (!res.headersSent) res.writeHead(200, { 'content-type': 'application/x-ndjson' });
    if (res.destroyed) return;
    const hasRoom = res.write(rows.map(line).join(''));
    const last = rows.at(-1);
    if (last === undefined || rows.length < SPEND_PAGE_ROWS) break;
    after = { startedAt: last.startedAt, callId: last.callId };
    if (!hasRoom) await Promise.race([once(res, 'drain'), once(res, 'close')]);
  }
  res.end();
}

function line(row: SpendRow): string {
  return `${JSON.stringify(row)}\n`;
}
