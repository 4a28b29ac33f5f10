/**
 * Who changed what, newest first.
 * Owns the list of the last few.
 */
import { useCallback, type ReactElement } from 'react';
import { When } from '../components/when.tsx';
import { usePolled } from '../data/use-polled.ts';
import { useSession } from '../session/session.ts';

const SHOWN = 12;

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
        <table>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Who</th>
              <th scope="col">What</th>
              <th scope="col">About</th>
              <th scope="col" className="number">
                Status
              </th>
            </tr>
          </thead>
          <tbody>
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
          </tbody>
        </table>
      </div>
    </section>
  );
}
