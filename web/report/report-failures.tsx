/**
 * What failed, before everything else of a report: which conversation, how, why, and the last lines of what failed.
 * Owns the cards; which there are is the server's choice.
 */
import type { ReactElement } from 'react';
import { Link } from '../routing/link.tsx';
import { Output, type Report } from './report-section.tsx';

type Failure = Report['failures'][number];

const LAST_OF = {
  check: 'Last lines of the check',
  agent: 'Last words of the agent',
  sandbox: 'Last lines of the sandbox',
} as const satisfies Readonly<Record<Failure['part'], string>>;

export function ReportFailures({ report }: { readonly report: Report }): ReactElement | null {
  const { failures, failure_count: count } = report;
  if (count === 0) return null;
  const rest = count - failures.length;
  return (
    <section aria-label="What failed" className="stack">
      <h2>
        What failed <span className="tag">{count}</span>
      </h2>
      {failures.map((failure) => (
        <Card key={failure.key} failure={failure} />
      ))}
      {rest > 0 ? <p className="quiet">And {rest} more, in the table of items.</p> : null}
    </section>
  );
}

function Card({ failure }: { readonly failure: Failure }): ReactElement {
  const { key, outcome, reason, part, lines, conversation_id: id } = failure;
  return (
    <article className="card report-failure" aria-label={key}>
      <h3>{id === null ? key : <Link to={{ page: 'conversation', id }}>{key}</Link>}</h3>
      <p className="said-bad">{outcome}</p>
      {reason === null || reason === '' ? null : <p className="report-reason">{reason}</p>}
      {lines.length === 0 ? null : (
        <>
          <p className="quiet">{LAST_OF[part]}</p>
          <Output lines={lines} />
        </>
      )}
    </article>
  );
}
