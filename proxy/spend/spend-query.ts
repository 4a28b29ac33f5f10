/**
 * The query of `GET /spend/logs`: filters, form, page.
 * Owns the names of the parameters; an unknown one is refused, so that a typing error never gives too many rows.
 */
import { normalUuid } from '../../core/ids.ts';
import { instantFromText } from '../../core/text/instant-text.ts';
import type { SpendQuery } from '../../ports/spend-log.ts';
import { failure, type Failure } from '../failure.ts';
import { SPEND_PAGE_ROWS } from '../limits.ts';

export interface ExportQuery {
  readonly filter: Omit<SpendQuery, 'limit'>;
  readonly format: 'jsonl' | 'csv';
  /** Rows of the reply at most; null gives all there are. */
  readonly limit: number | null;
}

/** Exact texts by the name of their parameter. */
const TEXTS = { model: 'model', key: 'keyName', user: 'user', team: 'team', tag: 'tag' } as const;
const METADATA = 'metadata.';
const OTHERS = ['from', 'to', 'session', 'format', 'limit', 'cursor'];

export function readExportQuery(params: URLSearchParams): ExportQuery | Failure {
  const unknown = [...params.keys()].find((name) => !isKnown(name));
  if (unknown !== undefined) return refused(unknown.slice(0, 64), 'there is no such parameter');
  const filter: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(TEXTS)) {
    const text = params.get(name);
    if (text !== null) filter[field] = text;
  }
  const session = params.get('session');
  if (session !== null) filter['sessionId'] = normalUuid(session);
  const metadata = [...params].filter(([name]) => name.startsWith(METADATA));
  if (metadata.length > 0)
    filter['metadata'] = Object.fromEntries(
      metadata.map(([name, text]) => [name.slice(METADATA.length), text]),
    );
  for (const name of ['from', 'to'] as const) {
    const text = params.get(name);
    if (text === null) continue;
    const instant = instantOf(text);
    if (instant === null)
      return refused(name, `"${text.slice(0, 64)}" is neither milliseconds nor an ISO instant`);
    filter[name] = instant;
  }
  return withPage(params, filter);
}

function withPage(params: URLSearchParams, filter: Record<string, unknown>): ExportQuery | Failure {
  const cursor = params.get('cursor');
  const after = cursor === null ? null : readCursor(cursor);
  if (cursor !== null && after === null) return refused('cursor', 'it is none that this route gave');
  const limitText = params.get('limit');
  const limit = limitText === null ? null : Number(limitText);
  if (limit !== null && !(Number.isInteger(limit) && limit >= 1 && limit <= SPEND_PAGE_ROWS))
    return refused('limit', `it must be a whole number from 1 to ${SPEND_PAGE_ROWS}`);
  const format = params.get('format') ?? 'jsonl';
  if (format !== 'jsonl' && format !== 'csv') return refused('format', 'it must be jsonl or csv');
  return { filter: { ...filter, ...(after === null ? {} : { after }) }, format, limit };
}

function isKnown(name: string): boolean {
  return name in TEXTS || OTHERS.includes(name) || name.startsWith(METADATA);
}

function refused(name: string, reason: string): Failure {
  return failure('invalid_request', `Cannot read "${name}": ${reason}`, name);
}

/** Epoch milliseconds or an ISO instant, in UTC without a zone; null for anything else. */
export function instantOf(text: string): number | null {
  const instant = /^\d+$/.test(text) ? Number(text) : instantFromText(text);
  return Number.isSafeInteger(instant) ? instant : null;
}

type Position = NonNullable<SpendQuery['after']>;

/** Opaque to callers: where the next page begins. */
export function cursorOf({ startedAt, callId }: Position): string {
  return Buffer.from(JSON.stringify([startedAt, callId])).toString('base64url');
}

function readCursor(text: string): Position | null {
  try {
    const [startedAt, callId] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown[];
    const isPosition = Number.isSafeInteger(startedAt) && typeof callId === 'string';
    return isPosition ? { startedAt: startedAt as number, callId } : null;
  } catch {
    return null;
  }
}
