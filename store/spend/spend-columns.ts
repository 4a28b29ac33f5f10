/**
 * Spend rows as columns and back.
 * Owns the names of the columns; amounts and counts stay exact integers (D26). Must not write.
 */
import type { Selectable } from 'kysely';
import { nanoUsd } from '../../core/money/money.ts';
import type { JoinableCall, SpendRow, SpendRowState } from '../../core/money/spend.ts';
import { columnText, columnTextOrNull, flag, safeInteger, safeIntegerOrNull } from '../sql/column-value.ts';
import type { Tables } from '../schema/tables.ts';

export function spendColumns(row: SpendRow) {
  return {
    call_id: row.callId,
    state: row.state,
    started_at: row.startedAt,
    ended_at: row.endedAt,
    route: columnText(row.route),
    model_name: columnText(row.modelName),
    upstream_model: columnText(row.upstreamModel),
    streamed: flag(row.streamed),
    http_status: row.httpStatus,
    response_id: columnTextOrNull(row.responseId),
    session_id: columnTextOrNull(row.sessionId),
    user: columnTextOrNull(row.user),
    key_name: columnText(row.keyName),
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    cached_tokens: row.cachedTokens,
    cost_nano_usd: row.cost,
    cost_source: row.costSource,
    metadata: row.metadata === null ? null : JSON.stringify(row.metadata),
    team: columnTextOrNull(row.team ?? null),
    cache_write_tokens: row.cacheWriteTokens ?? null,
    reasoning_tokens: row.reasoningTokens ?? null,
    held_nano_usd: row.held ?? null,
    tags: row.tags === undefined || row.tags.length === 0 ? null : JSON.stringify(row.tags),
    proxy_id: row.proxyId ?? null,
    run_id: row.runId ?? null,
  };
}

/** What a joinable call is read from: half of a row. */
export const JOINABLE_COLUMNS = [
  'call_id',
  'state',
  'started_at',
  'ended_at',
  'model_name',
  'upstream_model',
  'http_status',
  'response_id',
  'session_id',
  'user',
  'team',
  'prompt_tokens',
  'completion_tokens',
] as const satisfies readonly (keyof Tables['spend'])[];

type JoinableColumns = Pick<Selectable<Tables['spend']>, (typeof JOINABLE_COLUMNS)[number]>;

/** Of a page of calls one JSON list for each column; a database may say null of a page without rows. */
export function joinableCalls(lists: Readonly<Record<keyof JoinableColumns, string | null>>): JoinableCall[] {
  const valuesOf = <Column extends keyof JoinableColumns>(column: Column) =>
    JSON.parse(lists[column] ?? '[]') as readonly JoinableColumns[Column][];
  const at = {
    state: valuesOf('state'),
    started_at: valuesOf('started_at'),
    ended_at: valuesOf('ended_at'),
    model_name: valuesOf('model_name'),
    upstream_model: valuesOf('upstream_model'),
    http_status: valuesOf('http_status'),
    response_id: valuesOf('response_id'),
    session_id: valuesOf('session_id'),
    user: valuesOf('user'),
    team: valuesOf('team'),
    prompt_tokens: valuesOf('prompt_tokens'),
    completion_tokens: valuesOf('completion_tokens'),
  };
  return valuesOf('call_id').map((call_id, place) =>
    joinableCall({
      call_id,
      state: at.state[place] ?? '',
      started_at: at.started_at[place] ?? 0,
      ended_at: at.ended_at[place] ?? null,
      model_name: at.model_name[place] ?? '',
      upstream_model: at.upstream_model[place] ?? '',
      http_status: at.http_status[place] ?? null,
      response_id: at.response_id[place] ?? null,
      session_id: at.session_id[place] ?? null,
      user: at.user[place] ?? null,
      team: at.team[place] ?? null,
      prompt_tokens: at.prompt_tokens[place] ?? null,
      completion_tokens: at.completion_tokens[place] ?? null,
    }),
  );
}

function joinableCall(row: JoinableColumns): JoinableCall {
  const call = {
    callId: row.call_id,
    // The vocabulary is closed, and only its words were ever written.
    state: row.state as SpendRowState,
    startedAt: safeInteger(row.started_at),
    endedAt: safeIntegerOrNull(row.ended_at),
    modelName: row.model_name,
    upstreamModel: row.upstream_model,
    httpStatus: safeIntegerOrNull(row.http_status),
    responseId: row.response_id,
    sessionId: row.session_id,
    user: row.user,
    promptTokens: safeIntegerOrNull(row.prompt_tokens),
    completionTokens: safeIntegerOrNull(row.completion_tokens),
  };
  return row.team === null ? call : { ...call, team: row.team };
}

export function spendRow(row: Selectable<Tables['spend']>): SpendRow {
  const cost = safeIntegerOrNull(row.cost_nano_usd);
  return {
    ...joinableCall(row),
    // The vocabulary is closed, and only its words were ever written.
    costSource: row.cost_source as SpendRow['costSource'],
    route: row.route,
    streamed: row.streamed === 1,
    keyName: row.key_name,
    cachedTokens: safeIntegerOrNull(row.cached_tokens),
    cost: cost === null ? null : nanoUsd(cost),
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as SpendRow['metadata']),
    ...further(row),
    ...(row.tags === null ? {} : { tags: JSON.parse(row.tags) as readonly string[] }),
  };
}

/** What most rows do not have. */
function further(
  row: Selectable<Tables['spend']>,
): Pick<SpendRow, 'cacheWriteTokens' | 'reasoningTokens' | 'held' | 'proxyId' | 'runId'> {
  const [written, reasoning, amount] = [row.cache_write_tokens, row.reasoning_tokens, row.held_nano_usd];
  return {
    ...(written === null ? {} : { cacheWriteTokens: safeInteger(written) }),
    ...(reasoning === null ? {} : { reasoningTokens: safeInteger(reasoning) }),
    ...(amount === null ? {} : { held: nanoUsd(safeInteger(amount)) }),
    ...(row.proxy_id === null ? {} : { proxyId: row.proxy_id }),
    ...(row.run_id === null ? {} : { runId: row.run_id }),
  };
}
