/**
 * Entries of the audit log as a table.
 * Owns the columns.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { When } from '../components/parts.tsx';
import { figures, Table } from '../components/table.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';

type Entry = ResultOf<'search_audit'>['items'][number];

const COLUMNS = ['When', 'Who', 'What', 'About', figures('Status')];

export function AuditTable({ rows }: { readonly rows: readonly Entry[] }): ReactElement {
  return (
    <Table columns={COLUMNS}>
      {rows.map((entry) => (
        <tr key={entry.id}>
          <td>
            <When at={entry.at} />
          </td>
          <td>
            {entry.user_id ?? '—'}
            {entry.key_id === null ? null : <span className="below">key {entry.key_id}</span>}
          </td>
          <td>
            <code>{entry.action}</code>
          </td>
          <td className="about" title={entry.about}>
            {entry.about}
          </td>
          <td className="number">{entry.status}</td>
        </tr>
      ))}
    </Table>
  );
}

const SHOWN = 12;

/** The last few changes of anybody, and the way to all of them. */
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
        <AuditTable rows={value.items} />
      </div>
    </section>
  );
}
