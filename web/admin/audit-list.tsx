/**
 * The last few changes of anybody, and the way to all of them.
 * Owns how many.
 */
import { useCallback, type ReactElement } from 'react';
import { usePolled } from '../data/use-polled.ts';
import { Link } from '../routing/link.tsx';
import { useSession } from '../session/session.ts';
import { AuditTable } from './audit-table.tsx';

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
