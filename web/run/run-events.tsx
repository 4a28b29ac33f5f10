/**
 * What happened to a run as a whole.
 * Owns the list; nothing happened to most runs.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { When } from '../components/when.tsx';
import { labelOf } from '../text/words.ts';

export function RunEvents({ events }: { readonly events: ResultOf<'list_run_events'> }): ReactElement | null {
  if (events.length === 0) return null;
  return (
    <section aria-label="What happened">
      <h2>What happened</h2>
      <ol className="happened card">
        {events.map(({ at, code, detail }) => (
          <li key={`${at}${code}${detail}`}>
            <When at={at} /> <strong>{labelOf(code)}</strong> {detail}
          </li>
        ))}
      </ol>
    </section>
  );
}
