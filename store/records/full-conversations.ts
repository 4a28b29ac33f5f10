/**
 * Conversations with what their records show besides themselves: the sandbox as it is now, and what their calls came to.
 * Owns the column that holds all of it and what it is read as; which conversations are read is for others to say.
 */
import { sql, type RawBuilder } from 'kysely';
import type { ConversationId } from '../../core/ids.ts';
import type { ConversationRow, SandboxRow } from '../../core/machine/projection.ts';
import type { ConversationUsage, FullConversation } from '../../ports/record-search.ts';
import { safeInteger } from '../sql/column-value.ts';
import { RecentTexts } from './recent-texts.ts';

/** Everything in one column, because SQLite's library takes its time for each: id, two bodies and a usage, a line each. */
export interface FullText {
  readonly text: string;
}

/** A space between sums and name; no row when there was no call. */
const USAGE = sql`select coalesce(sum(prompt_tokens), 0) || ' ' || coalesce(sum(completion_tokens), 0) || ' ' ||
    coalesce(sum(cached_tokens), 0) || ' ' || coalesce(sum(cost_nano_usd), 0) || ' ' || max(model_name)
  from spend where session_id = c.conversation_id`;

/** Of the conversations `c` in `from`, with a condition or an order behind them. A body is JSON on one line. */
export function selectFull(from: RawBuilder<unknown>, behind: RawBuilder<unknown>): RawBuilder<FullText> {
  const line = sql.lit('\n');
  return sql<FullText>`select c.conversation_id || ${line} || c.body || ${line} || coalesce(s.body, '') || ${line} || coalesce((${USAGE}), '') as text
    from ${from} left join sandbox s on s.sandbox_id = c.sandbox_id and s.user_id = c.user_id ${behind}`;
}

/** Pages that are polled show the same records again and again; one takes a few KB. */
const RECORDS_KEPT = 2_000;

const RECORDS = new RecentTexts(readFull, RECORDS_KEPT);

/** The same object as long as nothing of it has changed. */
export function fullOf({ text }: FullText): FullConversation {
  return RECORDS.valueOf(text.slice(0, text.indexOf('\n')), text);
}

function readFull(text: string): FullConversation {
  const [, body = '', sandbox = '', ...usage] = text.split('\n');
  const row = JSON.parse(body) as ConversationRow;
  return {
    row,
    sandbox: sandbox === '' ? null : (JSON.parse(sandbox) as SandboxRow),
    usage: usageOf(row.conversationId, usage.join('\n')),
  };
}

/** The name is the last, so that it may have spaces and lines; null when there was no call. */
function usageOf(conversationId: ConversationId, text: string): ConversationUsage | null {
  if (text === '') return null;
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
