/**
 * Entries of the audit log as a table.
 * Owns the columns.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Table, type Column } from '../components/table.tsx';
import { When } from '../components/when.tsx';

type Entry = ResultOf<'search_audit'>['items'][number];

const COLUMNS: readonly Column[] = ['When', 'Who', 'What', 'About', { name: 'Status', holds: 'figures' }];

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
