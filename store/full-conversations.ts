/**
 * Conversations with what their records show besides themselves: the sandbox as it is now, and what their calls came to.
 * Owns the column that holds all of it and what it is read as; which conversations are read is for others to say.
 */
import { sql, type RawBuilder } from 'kysely';
import type { ConversationId } from '../core/ids.ts';
import type { ConversationRow, SandboxRow } from '../core/projection.ts';
import type { ConversationUsage, FullConversation } from '../ports/record-search.ts';
import { safeInteger } from './column-value.ts';
import { RecentTexts } from './recent-texts.ts';

/** Everything in one column, because SQLite's library takes its time for each: two bodies and a usage, a line each. */
export interface FullText {
  readonly text: string;
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

/** Pages that are polled show the same records again and again; one takes a few KB. */
const RECORDS_KEPT = 2_000;

const RECORDS = new RecentTexts(readFull, RECORDS_KEPT);

/** The same object as long as nothing of it has changed. */
export function fullOf({ text }: FullText): FullConversation {
  return RECORDS.valueOf(text);
}

function readFull(text: string): FullConversation {
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
