/**
 * The audit log: who changed what, searched and paged by the server.
 * Owns the asking; an entry holds names and ids, and never a value of a secret.
 */
import type { ReactElement } from 'react';
import type { InputOf } from '../../api/client/client.ts';
import { OPERATIONS } from '../../api/client/operations.ts';
import { AUDIT_COLUMNS } from '../admin/audit-table.tsx';
import { PageHead } from '../components/page-head.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { beginOf, choice, type FilterField, wordChoices } from '../lists/filter-field.ts';
import { FilteredListing } from '../lists/listing.tsx';
import { pageQuery, useListState } from '../lists/use-list-state.ts';

type Query = NonNullable<InputOf<'search_audit'>['query']>;

const FIRST = { who: '', action: '', about: '', outcome: '', from: '', until: '' };

/** Those that change something, and what a caller without a right is noted as. */
const ACTIONS = [
  ...Object.entries(OPERATIONS)
    .filter(([, { method }]) => method !== 'GET')
    .map(([name]) => name),
  'refused',
].sort();

const FIELDS: readonly FilterField<keyof typeof FIRST>[] = [
  { name: 'who', label: 'User', kind: 'text' },
  choice('action', 'Action', wordChoices('Every action', ACTIONS)),
  { name: 'about', label: 'About contains', kind: 'text' },
  choice('outcome', 'Outcome', wordChoices('Every outcome', ['done', 'refused'])),
  { name: 'from', label: 'From', kind: 'day' },
  { name: 'until', label: 'Until', kind: 'day' },
];

export function AuditPage(): ReactElement {
  const state = useListState(FIRST);
  const query = { ...pageQuery(state.pageId), ...queryOf(state.filter) };
  return (
    <>
      <PageHead title="Audit log">Who changed what, and with which outcome.</PageHead>
      <FilteredListing
        label="Audit log"
        fields={FIELDS}
        polled={useAnswer('searchAudit', { query })}
        state={state}
        empty={<p>Nobody has changed anything yet.</p>}
        none="No entry is so."
        columns={AUDIT_COLUMNS}
        keyOf={({ id }) => id}
      />
    </>
  );
}

function queryOf({ who, action, about, outcome, from, until }: typeof FIRST): Query {
  const [begin, end] = [beginOf(from), beginOf(until, 1)];
  return {
    ...(who === '' ? {} : { user_id: who.slice(0, 128) }),
    ...(action === '' ? {} : { action: action.slice(0, 100) }),
    ...(about === '' ? {} : { about__contains: about.slice(0, 200) }),
    ...(outcome === 'done' || outcome === 'refused' ? { outcome } : {}),
    ...(begin === null ? {} : { at__gte: begin }),
    ...(end === null ? {} : { at__lt: end }),
  };
}
