/**
 * A user's conversations by filter, page by page, each with what its record shows.
 * Owns which index a page is gone through by, and that a query of one form is written once and then only filled in.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { UserId } from '../../core/ids.ts';
import type { ConversationRow } from '../../core/machine/projection.ts';
import type {
  ConversationFilter,
  ConversationPageRequest,
  PagedConversation,
} from '../../ports/record-search.ts';
import { columnText, safeInteger } from '../sql/column-value.ts';
import type { Dialect } from '../sql/connection.ts';
import { fullOf, selectFull, type FullText } from './full-conversations.ts';
import { beyond, fitting, ordered, type Bounds } from '../sql/keyset.ts';
import { prepareQuery, type PreparedQuery } from '../sql/prepared-query.ts';
import { titleColumn } from './projection-columns.ts';
import type { Tables } from '../schema/tables.ts';

type Condition = RawBuilder<unknown>;

/** By name: what a filter and a page compare with. A name that is not there is not asked for. */
type Values = Readonly<Record<string, string | number>>;

/** Forms of queries that are kept; a form beyond them is written each time. */
const FORMS_MAX = 200;

/** By order: the column, and the same value of a row, for the page behind it. */
const ORDERS = {
  CREATED_AT: { kind: 'number', column: 'c.created_at', valueOf: (row: ConversationRow) => row.createdAt },
  UPDATED_AT: { kind: 'number', column: 'c.updated_at', valueOf: (row: ConversationRow) => row.updatedAt },
  TITLE: { kind: 'text', column: 'c.title', valueOf: titleColumn },
} as const;

export async function conversationPage(
  db: Kysely<Tables>,
  dialect: Dialect,
  { userId, filter, page }: PageQuery,
): Promise<readonly PagedConversation[]> {
  const { kind, valueOf } = ORDERS[page.order];
  const after = fitting(page.after, kind);
  const values = {
    ...filterValues(userId, filter),
    limit: page.limit,
    ...(after === null ? {} : { afterValue: after.value, afterId: after.id }),
  };
  const rows = await preparedPage({ dialect, order: page.order, descending: page.descending }, values).all(
    db,
    values,
  );
  return rows.map((text) => {
    const full = fullOf(text);
    return { full, cursor: { value: valueOf(full.row), id: full.row.conversationId } };
  });
}

export interface PageQuery {
  readonly userId: UserId;
  readonly filter: ConversationFilter;
  readonly page: ConversationPageRequest;
}

export async function countConversations(
  db: Kysely<Tables>,
  dialect: Dialect,
  { userId, filter }: Pick<PageQuery, 'userId' | 'filter'>,
): Promise<number> {
  const conditions = ownConditions(filterValues(userId, filter), dialect);
  const { rows } = await sql<{ readonly count: number | bigint | string }>`select count(*) as count
    from conversation c where ${and(conditions)}`.execute(db);
  return safeInteger(rows[0]?.count ?? 0);
}

function filterValues(userId: UserId, filter: ConversationFilter): Values {
  const { tags = {}, titleContains, ...exact } = filter;
  const values: Record<string, string | number> = { userId };
  if (titleContains !== undefined) values['title'] = columnText(titleContains);
  for (const [name, value] of Object.entries(exact)) if (value !== undefined) values[name] = value;
  for (const [i, [key, value]] of Object.entries(tags).entries()) {
    values[keyName(i)] = columnText(key);
    values[valueName(i)] = columnText(value);
  }
  return values;
}

const keyName = (i: number): string => `key${i}`;
const valueName = (i: number): string => `value${i}`;

interface Form extends Pick<ConversationPageRequest, 'order' | 'descending'> {
  readonly dialect: Dialect;
}

const PAGES = new Map<string, PreparedQuery<Values, FullText>>();

function preparedPage(form: Form, values: Values): PreparedQuery<Values, FullText> {
  const { dialect, order, descending } = form;
  const name = `${dialect} ${order} ${descending} ${Object.keys(values).join(' ')}`;
  const known = PAGES.get(name);
  if (known !== undefined) return known;
  const prepared = prepareQuery((db: Kysely<Tables>, given: Values) => pageQuery(form, given).compile(db));
  if (PAGES.size < FORMS_MAX) PAGES.set(name, prepared);
  return prepared;
}

/** Which ones, and what they show, in one statement. */
function pageQuery(form: Form, values: Values): RawBuilder<FullText> {
  const { from, conditions, bounds } = sourceOf(form, values);
  const { afterValue, afterId, limit } = values;
  const isFirst = afterValue === undefined || afterId === undefined;
  const after = isFirst ? [] : [beyond(bounds, { value: afterValue, id: afterId }, form)];
  const page = sql`select ${bounds.value} as bound, ${bounds.id} as id from ${from}
    where ${and([...conditions, ...after])} ${ordered(bounds, form)} limit ${limit}`;
  // Joined in its order, where a list of ids would be hashed first and what is found sorted again.
  return selectFull(
    sql`(${page}) p join conversation c on c.conversation_id = p.id`,
    ordered({ ...bounds, value: sql.ref('p.bound'), id: sql.ref('p.id') }, form),
  );
}

/** Where a page is gone through: rows in the order of an index, and which of them are wanted. */
interface Source {
  readonly from: Condition;
  readonly conditions: readonly Condition[];
  readonly bounds: Bounds;
}

/** By creation, the conversations of a tag stand in its own index in that order: no other record is read for a page. */
function sourceOf({ dialect, order }: Form, values: Values): Source {
  if (values[keyName(0)] === undefined || order !== 'CREATED_AT')
    return {
      from: sql`conversation c`,
      conditions: ownConditions(values, dialect),
      bounds: boundsOf(order),
    };
  const wishes = [...comparisons(values, dialect), ...tagConditions(values, 1)];
  // A server that takes the tag for a rare one would fetch all its records before it sorts them.
  const joined =
    wishes.length === 0 ? sql`` : sql`join conversation c on c.conversation_id = t.conversation_id`;
  return {
    from: sql`conversation_tag t ${joined}`,
    conditions: [...isTag(values, 0), ...wishes],
    bounds: { kind: 'number', value: sql.ref('t.created_at'), id: sql.ref('t.conversation_id') },
  };
}

function ownConditions(values: Values, dialect: Dialect): readonly Condition[] {
  return [sql`c.user_id = ${values['userId']}`, ...comparisons(values, dialect), ...tagConditions(values, 0)];
}

const COMPARISONS: Readonly<Record<string, (value: string | number, dialect: Dialect) => Condition>> = {
  title: (text, dialect) =>
    sql`${dialect === 'sqlite' ? sql`instr` : sql`strpos`}(lower(c.title), lower(${text})) > 0`,
  createdFrom: (at) => sql`c.created_at >= ${at}`,
  createdBefore: (at) => sql`c.created_at < ${at}`,
  updatedFrom: (at) => sql`c.updated_at >= ${at}`,
  updatedBefore: (at) => sql`c.updated_at < ${at}`,
  sandboxId: (id) => sql`c.sandbox_id = ${id}`,
  sandboxStatus: (status) => sql`c.sandbox_status = ${status}`,
  executionStatus: (status) => sql`c.execution_status = ${status}`,
};

function comparisons(values: Values, dialect: Dialect): readonly Condition[] {
  return Object.entries(COMPARISONS).flatMap(([name, compare]) => {
    const value = values[name];
    return value === undefined ? [] : [compare(value, dialect)];
  });
}

/** From the tag at `from` on, each with its own list of ids: the index over keys and values is gone through, and not every record. */
function tagConditions(values: Values, from: number): readonly Condition[] {
  const conditions: Condition[] = [];
  for (let i = from; values[keyName(i)] !== undefined; i += 1)
    conditions.push(sql`c.conversation_id in (select t.conversation_id from conversation_tag t
      where ${and(isTag(values, i))})`);
  return conditions;
}

const isTag = (values: Values, i: number): readonly Condition[] => [
  sql`t.user_id = ${values['userId']}`,
  sql`t.key = ${values[keyName(i)]}`,
  sql`t.value = ${values[valueName(i)]}`,
];

const and = (conditions: readonly Condition[]): Condition => sql.join(conditions, sql` and `);

/** As the records themselves have them. */
function boundsOf(order: ConversationPageRequest['order']): Bounds {
  const { kind, column } = ORDERS[order];
  return { kind, value: sql.ref(column), id: sql.ref('c.conversation_id') };
}
