/**
 * Conversations with what their records show besides themselves: the sandbox as it is now, and what their calls came to.
 * Owns the column that holds all of it and what it is read as; which conversations are read is for others to say.
 */
import { sql, type RawBuilder } from 'kysely';
import type { ConversationId } from '../../core/ids.ts';
import type { ConversationRow, SandboxRow } from '../../core/machine/projection.ts';
import type { ConversationUsage, FullConversation } from '../../ports/record-search.ts';
import { safeInteger } from '../sql/column-value.ts';

/**
 * Values that were made of texts read lately: a record that is looked at again and again is read from its text once.
 * Owns how many are kept. A value is shared by all who read the same text, so it must never change.
 */

/** Longer texts are rare, and are made a value each time: so many of them may not fill the memory. */
const LENGTH_MAX = 4_096;

interface Known<Value> {
  readonly text: string;
  readonly value: Value;
}

export class RecentTexts<Value> {
  private readonly make: (text: string) => Value;
  private readonly max: number;
  private lately = new Map<string, Known<Value>>();
  private before = new Map<string, Known<Value>>();

  /** Keeps `max` values at least and twice as many at most. */
  constructor(make: (text: string) => Value, max: number) {
    this.make = make;
    this.max = max;
  }

  /**
   * The value of `text`, the same one as long as it is kept. The name, of which the latest text counts, is what it is
   * looked up by: a short one is hashed sooner than a long text. @throws whatever `make` throws
   */
  valueOf(name: string, text: string): Value {
    if (text.length > LENGTH_MAX) return this.make(text);
    const recent = this.lately.get(name);
    if (recent?.text === text) return recent.value;
    const older = recent ?? this.before.get(name);
    const known = older?.text === text ? older : { text, value: this.make(text) };
    // What was not asked for since the last time goes: cheaper than an order of use that every look changes.
    if (this.lately.size >= this.max && recent === undefined) {
      this.before = this.lately;
      this.lately = new Map();
    }
    this.lately.set(name, known);
    return known.value;
  }
}

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
