/**
 * What narrows and orders the list of conversations, and the query to the server for it.
 * Owns the fields; half a tag or half a day is no filter yet.
 */
import type { InputOf } from '../../api/client/client.ts';
import { beginOf, choice, type FilterField, wordChoices } from '../lists/filter-field.ts';
import { EXECUTION_WORDS, SANDBOX_WORDS } from '../text/words.ts';

type Query = NonNullable<InputOf<'search_app_conversations'>['query']>;

export const FIRST_CONVERSATIONS = {
  ...{ title: '', agent: '', sandbox: '', tag: '', from: '', until: '', in: '' },
  sort: 'CREATED_AT_DESC',
};
export type ConversationFilter = typeof FIRST_CONVERSATIONS;

export const CONVERSATION_FIELDS: readonly FilterField<Exclude<keyof ConversationFilter, 'sort'>>[] = [
  { name: 'title', label: 'Title contains', kind: 'text' },
  choice('agent', 'Agent', wordChoices('Every agent', EXECUTION_WORDS)),
  choice('sandbox', 'Status of the sandbox', wordChoices('Every sandbox', SANDBOX_WORDS)),
  { name: 'tag', label: 'Tag (name=value)', kind: 'text' },
  { name: 'in', label: 'Id of the sandbox', kind: 'text' },
  { name: 'from', label: 'Created from', kind: 'day' },
  { name: 'until', label: 'Created until', kind: 'day' },
];

const ORDERS = ['CREATED_AT', 'UPDATED_AT', 'TITLE'].flatMap((one) => [one, `${one}_DESC`]);
const SANDBOX_ID = /^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/;

/** The address may hold anything that a user typed: what is no filter is left out. */
export function conversationQuery(filter: ConversationFilter): Query {
  const { title, agent, sandbox, tag, from, until, sort, in: sandboxId } = filter;
  const [begin, end] = [beginOf(from), beginOf(until, 1)];
  return {
    ...(ORDERS.includes(sort) ? { sort_order: sort as NonNullable<Query['sort_order']> } : {}),
    ...(title === '' ? {} : { title__contains: title.slice(0, 200) }),
    ...(EXECUTION_WORDS.some((one) => one === agent) ? { execution_status__eq: agent } : {}),
    ...(SANDBOX_WORDS.some((one) => one === sandbox) ? { sandbox_status__eq: sandbox } : {}),
    ...(SANDBOX_ID.test(sandboxId) ? { sandbox_id__eq: sandboxId } : {}),
    ...(/^[a-z0-9]+=/.test(tag) ? { tag: [tag] } : {}),
    ...(begin === null ? {} : { created_at__gte: begin }),
    ...(end === null ? {} : { created_at__lt: end }),
  };
}
