// The HTTP server: routes, who may call them, and every error in the one envelope.
// It must not listen on a port or read the environment; main.ts does.

import { Readable } from 'node:stream';
import { fastify, type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify';
import { z } from 'zod';
import { ApiError, errorEnvelope, errorTypeOf, messagesErrorEnvelope } from './api-error.ts';
import { addCallRoutes } from './call-routes.ts';
import { formatUsd, parseUsd } from './decimal-usd.ts';
import type { KeyHolder } from './key-ring.ts';
import { ledgerColumns, type LedgerRow } from './ledger.ts';
import type { GatewayContext } from './gateway-context.ts';
import { requestBytesMax, exportRowsPerChunk } from './limits.ts';
import { presentedKey } from './presented-key.ts';

/** What a real gateway answers here; clients compare nothing with it. */
const modelCreatedSeconds = 1_677_610_602;

const healthPaths = ['/health', '/health/liveliness', '/health/liveness', '/health/readiness'];

/** Makes the server; the caller listens and closes. */
export function createServer(context: GatewayContext): FastifyInstance {
  const server = fastify({
    logger: false,
    bodyLimit: requestBytesMax,
    frameworkErrors: (error, request, reply) => void sendError(request.url, reply, error),
  });
  server.setErrorHandler((error: FastifyError | ApiError, request, reply) =>
    sendError(request.url, reply, error),
  );
  server.setNotFoundHandler((request, reply) => {
    const [path] = request.url.split('?', 1);
    const message = `Cannot ${request.method} "${path}": there is no such route`;
    return sendError(
      request.url,
      reply,
      new ApiError({ status: 404, type: 'invalid_request_error', message }),
    );
  });
  for (const path of healthPaths) server.get(path, () => ({ status: 'ok' }));
  void server.register((guarded, _options, done) => {
    // Before the body is read: a client without a key learns nothing from how a body fails.
    guarded.addHook('onRequest', (request, _reply, next) => {
      context.ring(presentedKey(request.headers));
      next();
    });
    addCallRoutes(guarded, context);
    addModelRoutes(guarded, context);
    addSpendRoutes(guarded, context);
    done();
  });
  return server;
}

function addModelRoutes(server: FastifyInstance, context: GatewayContext): void {
  for (const path of ['/v1/models', '/models']) {
    server.get(path, (request) => {
      const { models } = context.ring(presentedKey(request.headers));
      const ids = [...context.script.models.keys()].filter((id) => models === null || models.includes(id));
      const row = (id: string) => ({
        id,
        object: 'model',
        created: modelCreatedSeconds,
        owned_by: 'scripted',
      });
      return { data: ids.map(row), object: 'list' };
    });
  }
}

function addSpendRoutes(server: FastifyInstance, context: GatewayContext): void {
  server.get('/spend/export', (request, reply) => {
    const query = parseSpendQuery(request.query);
    const isWanted = spendFilter(query, context.ring(presentedKey(request.headers)));
    const chunks = exportChunks(context.ledger.rows(), { format: query.format, isWanted });
    return reply.header('content-type', exportMediaTypes[query.format]).send(Readable.from(chunks));
  });
  server.get('/spend/total', (request) => {
    const query = parseSpendQuery(request.query);
    const isWanted = spendFilter(query, context.ring(presentedKey(request.headers)));
    return totalOf(context.ledger.rows().filter(isWanted));
  });
}

function sendError(url: string, reply: FastifyReply, error: FastifyError | ApiError): FastifyReply {
  const known = error instanceof ApiError ? error : apiErrorOf(error);
  if (known.retryAfterSeconds !== null) reply.header('retry-after', String(known.retryAfterSeconds));
  const envelope = url.startsWith('/v1/messages') ? messagesErrorEnvelope(known) : errorEnvelope(known);
  return reply.status(known.status).send(envelope);
}

/** The framework's own errors are about the body, or defects of this program whose text clients must not see. */
function apiErrorOf(error: FastifyError): ApiError {
  const status = error.statusCode ?? 500;
  const isCallers = status >= 400 && status < 500;
  return new ApiError({
    status: isCallers ? status : 500,
    type: errorTypeOf(status),
    message: isCallers ? `Cannot read request: ${error.message}` : 'Cannot answer: internal error',
    param: isCallers ? 'request_body' : null,
  });
}

type ExportFormat = 'jsonl' | 'csv';

const exportMediaTypes: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
};

/** The export, chunk by chunk; rows billed after the first chunk was requested are not in it. */
export function* exportChunks(
  rows: readonly LedgerRow[],
  options: { readonly format: ExportFormat; readonly isWanted: (row: LedgerRow) => boolean },
): Generator<string> {
  const rowCount = rows.length;
  const encode = options.format === 'csv' ? csvLine : jsonLine;
  if (options.format === 'csv') yield csvRecord(ledgerColumns);
  for (let start = 0; start < rowCount; start += exportRowsPerChunk) {
    const slice = rows.slice(start, Math.min(start + exportRowsPerChunk, rowCount));
    const text = slice.filter(options.isWanted).map(encode).join('');
    if (text !== '') yield text;
  }
}

function jsonLine(row: LedgerRow): string {
  return `${JSON.stringify(row)}\n`;
}

/** Texts and numbers as they are, null as nothing, lists and objects as JSON. */
function csvLine(row: LedgerRow): string {
  return csvRecord(
    ledgerColumns.map((column) => {
      const value = row[column];
      if (value === null) return '';
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
    }),
  );
}

function csvRecord(fields: readonly string[]): string {
  return `${fields.map(csvField).join(',')}\r\n`;
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const instant = z.union([z.iso.datetime({ offset: true }), z.iso.date()], {
  error: 'expected an ISO 8601 date, or a date and time with a zone',
});

const querySchema = z.strictObject({
  format: z.enum(['jsonl', 'csv'], { error: 'expected "jsonl" or "csv"' }).default('jsonl'),
  from: instant.optional(),
  to: instant.optional(),
  model: z.string().optional(),
  key: z.string().optional(),
  session: z.string().optional(),
});

type SpendQuery = z.infer<typeof querySchema>;

/** Count and exact sums of the rows of a query. */
interface SpendTotal {
  readonly count: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_usd: string;
}

/** Reads a query string. Throws an ApiError 400 that names the first parameter at fault. */
export function parseSpendQuery(query: unknown): SpendQuery {
  const parsed = querySchema.safeParse(query);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const param = issue?.code === 'unrecognized_keys' ? (issue.keys[0] ?? '') : String(issue?.path[0] ?? '');
  const reason =
    issue?.code === 'unrecognized_keys'
      ? `expected one of ${Object.keys(querySchema.shape).join(', ')}`
      : (issue?.message ?? 'not understood');
  throw new ApiError({
    status: 400,
    type: 'invalid_request_error',
    message: `Cannot read query parameter "${param}": ${reason}`,
    param,
  });
}

/** A test for rows: what the holder may see, and `from` ≤ time_start < `to`. */
export function spendFilter(query: SpendQuery, holder: KeyHolder): (row: LedgerRow) => boolean {
  const from = query.from === undefined ? -Infinity : Date.parse(query.from);
  const to = query.to === undefined ? Infinity : Date.parse(query.to);
  const isIn = (row: LedgerRow): boolean => {
    const start = Date.parse(row.time_start);
    return from <= start && start < to;
  };
  const isWanted = (wanted: string | undefined, found: string | null): boolean =>
    wanted === undefined || wanted === found;
  return (row) =>
    (holder.admin || row.api_key_name === holder.name) &&
    isWanted(query.model, row.model) &&
    isWanted(query.key, row.api_key_name) &&
    isWanted(query.session, row.session_id) &&
    isIn(row);
}

/** Adds up rows in integer nano-USD. */
export function totalOf(rows: readonly LedgerRow[]): SpendTotal {
  const sum = (count: (row: LedgerRow) => number): number => rows.reduce((all, row) => all + count(row), 0);
  const nanoUsd = rows.reduce((all, row) => all + costOf(row), 0n);
  return {
    count: rows.length,
    prompt_tokens: sum((row) => row.prompt_tokens),
    completion_tokens: sum((row) => row.completion_tokens),
    cost_usd: formatUsd(nanoUsd),
  };
}

/** Throws on a cost that is no decimal: leaving it out would make a wrong sum look right. */
function costOf(row: LedgerRow): bigint {
  const nanoUsd = parseUsd(row.cost_usd);
  if (nanoUsd === null) throw new Error(`Cannot add up row "${row.request_id}": its cost is no decimal`);
  return nanoUsd;
}
