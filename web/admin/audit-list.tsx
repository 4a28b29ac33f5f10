/**
 * Who changed what, newest first.
 * Owns the list of the last few.
 */
import { useCallback, type ReactElement } from 'react';
import { Table, type Column } from '../components/table.tsx';
import { When } from '../components/when.tsx';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';

const SHOWN = 12;

const COLUMNS: readonly Column[] = ['When', 'Who', 'What', 'About', { name: 'Status', holds: 'figures' }];

export function AuditList(): ReactElement | null {
  const { client } = useSession();
  const ask = useCallback(
    (signal: AbortSignal) => client.searchAudit({ query: { limit: SHOWN } }, { signal }),
    [client],
  );
  const { value } = usePolled(ask);
  if (value === null || value.items.length === 0) return null;
  return (
    <section className="card stack" aria-labelledby="audit">
      <h2 id="audit">Audit log</h2>
      <div className="scroll">
        <Table columns={COLUMNS}>
          {value.items.map((entry, at) => (
            <tr key={`${entry.at}${at}`}>
              <td>
                <When at={entry.at} />
              </td>
              <td>{entry.user_id ?? '—'}</td>
              <td>
                <code>{entry.action}</code>
              </td>
              <td className="about">{entry.about}</td>
              <td className="number">{entry.status}</td>
            </tr>
          ))}
        </Table>
      </div>
    </section>
  );
}
