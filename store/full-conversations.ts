/**
 * Conversations with what their records show besides themselves: the sandbox as it is now, and what their calls came to.
 * Owns the columns that hold all of it, and the statement that reads it by id, whoever else has rows.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { ConversationId, UserId } from '../core/ids.ts';
import type { ConversationRow, SandboxRow } from '../core/projection.ts';
import type { ConversationUsage, FullConversation } from '../ports/record-search.ts';
import { safeInteger } from './column-value.ts';
import { prepareRows } from './prepared-query.ts';
import type { Tables } from './tables.ts';

/** Everything in one column, because SQLite's library takes its time for each: two bodies and a usage, a line each. */
export interface FullText {
  readonly text: string;
}

interface Key {
  readonly id: string;
  readonly userId: string;
}

/** A space between sums and name; no row when there was no call. */
const USAGE = sql`select coalesce(sum(prompt_tokens), 0) || ' ' || coalesce(sum(completion_tokens), 0) || ' ' ||
    coalesce(sum(cached_tokens), 0) || ' ' || coalesce(sum(cost_nano_usd), 0) || ' ' || max(model_name)
  from spend where session_id = c.conversation_id`;

/** Of the conversations `c`, with their order behind it. A body is JSON on one line. */
export function selectFull(which: RawBuilder<unknown>): RawBuilder<FullText> {
  const line = sql.lit('\n');
  return sql<FullText>`select c.body || ${line} || coalesce(s.body, '') || ${line} || coalesce((${USAGE}), '') as text
    from conversation c
    left join sandbox s on s.sandbox_id = c.sandbox_id and s.user_id = c.user_id
    where ${which}`;
}

const FULL = prepareRows((db, keys: readonly Key[]) => {
  const ids = sql.join(keys.map(({ id }) => sql`${id}`));
  const userId = keys[0]?.userId ?? '';
  return selectFull(sql`c.conversation_id in (${ids}) and c.user_id = ${userId}`).compile(db);
});

/** In the order of the ids; null where there is no such record, or it is somebody else's. */
export async function fullConversations(
  db: Kysely<Tables>,
  userId: UserId,
  ids: readonly ConversationId[],
): Promise<readonly (FullConversation | null)[]> {
  const rows = await FULL.execute(db, keysOf(userId, ids));
  const found = new Map(rows.map(fullOf).map((full) => [full.row.conversationId, full]));
  return ids.map((id) => found.get(id) ?? null);
}

/** Filled up to a power of two with the last one, so that a list of any length is one statement of few texts. */
function keysOf(userId: UserId, ids: readonly ConversationId[]): readonly Key[] {
  const keys = [...new Set(ids)].map((id) => ({ id, userId }));
  const last = keys.at(-1);
  if (last === undefined) return [];
  const size = 2 ** Math.ceil(Math.log2(keys.length));
  return [...keys, ...Array.from({ length: size - keys.length }, () => last)];
}

export function fullOf({ text }: FullText): FullConversation {
  const first = text.indexOf('\n');
  const second = text.indexOf('\n', first + 1);
  const row = JSON.parse(text.slice(0, first)) as ConversationRow;
  const sandbox = text.slice(first + 1, second);
  const usage = text.slice(second + 1);
  return {
    row,
    sandbox: sandbox === '' ? null : (JSON.parse(sandbox) as SandboxRow),
    usage: usage === '' ? null : usageOf(row.conversationId, usage),
  };
}

/** The name is the last, so that it may have spaces. */
function usageOf(conversationId: ConversationId, text: string): ConversationUsage {
  const [prompt = '', completion = '', cached = '', cost = '', ...model] = text.split(' ');
  return {
    conversationId,
    modelName: model.join(' '),
    promptTokens: safeInteger(prompt),
    completionTokens: safeInteger(completion),
    cachedTokens: safeInteger(cached),
    costNanoUsd: safeInteger(cost),
  };
}
