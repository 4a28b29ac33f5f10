/**
 * Spend over time by one dimension: sums of buckets for the dearest names, and one group for all others.
 * Owns what a call's name is in each dimension; the database sums, and no row of a call leaves it.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { nanoUsd } from '../../core/money/money.ts';
import { SPEND_GROUPS_MAX, type SpendBucket, type SpendQuestion } from '../../ports/overview.ts';
import type { Dialect } from '../sql/connection.ts';
import type { Tables } from '../schema/tables.ts';

type Sql = RawBuilder<unknown>;

const SUMS = ['calls', 'failed', 'unpriced', 'prompt_tokens', 'completion_tokens', 'cost'] as const;

type Summed = Readonly<Record<(typeof SUMS)[number], number | bigint | string>>;

interface BucketRow extends Summed {
  readonly bucket: number | bigint | string;
  readonly kind: SpendBucket['kind'];
  readonly label: string;
}

export async function spendByTime(
  db: Kysely<Tables>,
  dialect: Dialect,
  question: SpendQuestion,
): Promise<readonly SpendBucket[]> {
  const calls = callsOf(dialect, question);
  const { rows: dearest } = await sql<{ readonly name: string }>`
    select name from (${calls}) calls where name <> ''
    group by name order by sum(cost) desc, sum(calls) desc, name limit ${SPEND_GROUPS_MAX}`.execute(db);
  const names = dearest.map(({ name }) => name);
  // A list may not be empty, and no name is.
  const named = sql.join((names.length === 0 ? [''] : names).map((name) => sql`${name}`));
  const { bucketMs } = question;
  const { rows } = await sql<BucketRow>`
    select at - (at % ${sql.lit(bucketMs)}) as bucket, kind, label, ${sql.join(SUMS.map(sumOf))} from (
      select calls.*, case when name = '' then 'none' when name in (${named}) then 'named' else 'others' end as kind,
        case when name in (${named}) then name else '' end as label from (${calls}) calls
    ) grouped group by 1, 2, 3 order by 1, 2, 3`.execute(db);
  return rows.map(bucketOf);
}

const sumOf = (name: (typeof SUMS)[number]): Sql => sql`sum(${sql.ref(name)}) as ${sql.ref(name)}`;

/** Sums come as text or with a decimal point from one dialect; they are integers all the same. */
function bucketOf(row: BucketRow): SpendBucket {
  return {
    at: Number(row.bucket),
    kind: row.kind,
    name: row.label,
    calls: Number(row.calls),
    failed: Number(row.failed),
    unpriced: Number(row.unpriced),
    promptTokens: Number(row.prompt_tokens),
    completionTokens: Number(row.completion_tokens),
    cost: nanoUsd(Number(row.cost)),
  };
}

/** A row for each call and name of it, and one for each daily total; the name is empty where there is none. */
function callsOf(dialect: Dialect, question: SpendQuestion): Sql {
  const single =
    question.by === 'tag' ? tagged(dialect, question) : [ofCalls(question, { name: nameOf(question) })];
  const all = sql.join([...single, ofDays(question)], sql` union all `);
  // Names of tags come from a function, and those have another order.
  const bytewise = dialect === 'sqlite' ? sql`` : sql`collate "C"`;
  return sql`select at, name ${bytewise} as name, ${sql.join(SUMS.map((one) => sql.ref(one)))} from (${all}) every`;
}

function nameOf({ by }: SpendQuestion): Sql {
  switch (by) {
    case 'model':
      return sql`s.model_name`;
    case 'user':
      return sql`coalesce(c.user_id, s."user", '')`;
    case 'team':
      return sql`coalesce(s.team, '')`;
    case 'key':
      // Each conversation has a key of its own, which says nothing that its record does not.
      return sql`case when s.session_id is null then s.key_name else '' end`;
    case 'tag':
      return sql`''`;
  }
}

interface NamedCalls {
  readonly name: Sql;
  /** Joins what the name is made of. */
  readonly more?: Sql;
  readonly also?: Sql;
}

function ofCalls({ from, to, userId }: SpendQuestion, { name, more = sql``, also = sql`` }: NamedCalls): Sql {
  const own = userId === null ? sql`` : sql`and c.user_id = ${userId}`;
  return sql`select s.started_at as at, ${name} as name, 1 as calls,
      case when s.state in ('failed', 'cut', 'aborted', 'interrupted') then 1 else 0 end as failed,
      case when s.cost_nano_usd is null then 1 else 0 end as unpriced,
      coalesce(s.prompt_tokens, 0) as prompt_tokens, coalesce(s.completion_tokens, 0) as completion_tokens,
      coalesce(s.cost_nano_usd, 0) as cost
    from spend s left join conversation c on c.conversation_id = s.session_id ${more}
    where s.started_at >= ${from} and s.started_at < ${to} and s.state <> 'open' ${own} ${also}`;
}

/** Tags that came with the call or its key, those of its conversation as `key=value`, and calls without any. */
function tagged(dialect: Dialect, question: SpendQuestion): readonly Sql[] {
  // A text that a dialect cannot hold would be cut short in one, and would fail the whole sum in the other.
  const hasNoText = dialect === 'sqlite' ? sql`instr(s.tags, ${NUL_ESCAPE}) > 0` : sql`s.tags ~ ${NO_TEXT}`;
  const list = sql`case when ${hasNoText} then '[]' else s.tags end`;
  const ownTags =
    dialect === 'sqlite'
      ? sql`join json_each(${list}) t`
      : sql`join lateral json_array_elements_text((${list})::json) t(value) on true`;
  const ofConversation = sql`join conversation_tag ct on ct.conversation_id = s.session_id`;
  const hasNone = sql`and s.tags is null and not exists
    (select 1 from conversation_tag ct where ct.conversation_id = s.session_id)`;
  return [
    ofCalls(question, { name: sql`t.value`, more: ownTags, also: sql`and s.tags is not null` }),
    ofCalls(question, { name: sql`ct.key || '=' || ct.value`, more: ofConversation }),
    ofCalls(question, { name: sql`''`, also: hasNone }),
  ];
}

const NUL_ESCAPE = String.raw`\u0000`;
/** Escapes of JSON that stand for no text of PostgreSQL: NUL, and half of a pair. */
const NO_TEXT = String.raw`\\u(0000|[dD][89a-fA-F])`;

const DAILY_NAMES: Readonly<Record<SpendQuestion['by'], Sql>> = {
  model: sql`d.model_name`,
  user: sql`d."user"`,
  team: sql`d.team`,
  key: sql`case when d.key_name like 'conversation/%' then '' else d.key_name end`,
  tag: sql`''`,
};

/** Whose conversations they were is not known any more: a user has none of them. */
function ofDays({ by, from, to, userId }: SpendQuestion): Sql {
  const own = userId === null ? sql`` : sql`and 1 = 0`;
  return sql`select d.day as at, ${DAILY_NAMES[by]} as name, d.calls, d.failed, d.unpriced, d.prompt_tokens,
      d.completion_tokens, d.cost_nano_usd as cost
    from spend_daily d where d.day >= ${from} and d.day < ${to} ${own}`;
}
