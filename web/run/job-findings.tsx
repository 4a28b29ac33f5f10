/**
 * What the compiler says of a job, as a list under the editor.
 * Owns the words; the same stands in the text, for eyes alone.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Badge } from '../components/badge.tsx';

export function JobFindings({ of }: { readonly of: ResultOf<'compile_job'>['findings'] }): ReactElement {
  return (
    <section aria-label="Findings" aria-live="polite">
      {of.length === 0 ? (
        <p className="quiet">The compiler has nothing to say against it.</p>
      ) : (
        <ul className="findings card">
          {of.map(({ code, severity, message, remedy, line, column }) => (
            <li key={`${code} ${line} ${column} ${message}`}>
              <Badge word={severity} note={code} />
              <span className="wrap">
                Line {line}, column {column}: {message}
                {remedy === null ? '' : ` — ${remedy}`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
