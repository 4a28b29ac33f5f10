/**
 * Conversations with what their records show besides themselves: the sandbox as it is now, and what their calls came to.
 * Owns the one statement that reads all of it; it goes through the ids, whoever else has rows.
 */
import { sql, type Kysely } from 'kysely';
import type { ConversationId, UserId } from '../core/ids.ts';
import type { ConversationRow, SandboxRow } from '../core/projection.ts';
import type { FullConversation } from '../ports/record-search.ts';
import { safeInteger } from './column-value.ts';
import { prepareRows } from './prepared-query.ts';
import type { Tables } from './tables.ts';

type Sum = number | bigint | string | null;

interface FullRow {
  readonly id: string;
  readonly body: string;
  readonly sandbox: string | null;
  readonly model: string | null;
  readonly prompt: Sum;
  readonly completion: Sum;
  readonly cached: Sum;
  readonly cost: Sum;
}

interface Key {
  readonly id: string;
  readonly userId: string;
}

const FULL = prepareRows((db, keys: readonly Key[]) => {
  const ids = sql.join(keys.map(({ id }) => sql`${id}`));
  const userId = keys[0]?.userId ?? '';
  return sql<FullRow>`select c.conversation_id as id, c.body, s.body as sandbox,
      u.model, u.prompt, u.completion, u.cached, u.cost
    from conversation c
    left join sandbox s on s.sandbox_id = c.sandbox_id and s.user_id = c.user_id
    left join (select session_id, max(model_name) as model, sum(prompt_tokens) as prompt,
        sum(completion_tokens) as completion, sum(cached_tokens) as cached, sum(cost_nano_usd) as cost
      from spend where session_id in (${ids}) group by session_id) u on u.session_id = c.conversation_id
    where c.conversation_id in (${ids}) and c.user_id = ${userId}`.compile(db);
});

/** In the order of the ids; null where there is no such record, or it is somebody else's. */
export async function fullConversations(
  db: Kysely<Tables>,
  userId: UserId,
  ids: readonly ConversationId[],
): Promise<readonly (FullConversation | null)[]> {
  const rows = await FULL.execute(db, keysOf(userId, ids));
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const row = found.get(id);
    return row === undefined ? null : fullOf(id, row);
  });
}

/** Filled up to a power of two with the last one, so that a list of any length is one statement of few texts. */
function keysOf(userId: UserId, ids: readonly ConversationId[]): readonly Key[] {
  const keys = [...new Set(ids)].map((id) => ({ id, userId }));
  const last = keys.at(-1);
  if (last === undefined) return [];
  const size = 2 ** Math.ceil(Math.log2(keys.length));
  return [...keys, ...Array.from({ length: size - keys.length }, () => last)];
}

function fullOf(conversationId: ConversationId, row: FullRow): FullConversation {
  return {
    row: JSON.parse(row.body) as ConversationRow,
    sandbox: row.sandbox === null ? null : (JSON.parse(row.sandbox) as SandboxRow),
    usage:
      row.model === null
        ? null
        : {
            conversationId,
            modelName: row.model,
            promptTokens: safeInteger(row.prompt ?? 0),
            completionTokens: safeInteger(row.completion ?? 0),
            cachedTokens: safeInteger(row.cached ?? 0),
            costNanoUsd: safeInteger(row.cost ?? 0),
          },
  };
}
