/**
 * Entries of the audit log as a table.
 * Owns the columns.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { When } from '../components/parts.tsx';
import { type Column, figures, Table, text } from '../components/table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';

type Entry = ResultOf<'search_audit'>['items'][number];

export const AUDIT_COLUMNS: readonly Column<Entry>[] = [
  text('When', ({ at }) => <When at={at} />),
  text('Who', ({ user_id: user, key_id: key }) => (
    <>
      {user ?? '—'}
      {key === null ? null : <span className="below">key {key}</span>}
    </>
  )),
  text('What', ({ action }) => <code>{action}</code>),
  text('About', ({ about }) => <span title={about}>{about}</span>, 'about'),
  figures('Status', ({ status }) => status),
];

const SHOWN = 12;

/** The last few changes of all users, and a link to all of them. */
export function AuditList(): ReactElement | null {
  const { value } = useAnswer('searchAudit', { query: { limit: SHOWN } });
  if (value === null || value.items.length === 0) return null;
  return (
    <section className="card stack" aria-labelledby="audit">
      <div className="section-head">
        <h2 id="audit">Last changes</h2>
        <Link to={{ page: 'audit' }}>The whole audit log</Link>
      </div>
      <div className="scroll">
        <Table columns={AUDIT_COLUMNS} rows={value.items} keyOf={({ id }) => id} />
      </div>
    </section>
  );
}
