/**
 * The figures at the top of a report, each against the last run of the job.
 * Owns the elements; how a difference is said is the server's.
 */
import type { ReactElement } from 'react';
import { Sum } from '../components/sum.tsx';
import { Link } from '../routing/link.tsx';
import type { Report } from './report-types.ts';

/** Where the exact amounts are. */
export const FOOTNOTE_ID = 'to-the-nano-dollar';

export interface ReportTilesProps {
  readonly run: string;
  readonly report: Report;
}

export function ReportTiles({ run, report: { tiles, last_run_id: last } }: ReportTilesProps): ReactElement {
  return (
    <section aria-label="Sums" className="stack">
      <dl className="sums report-tiles">
        {tiles.map(({ name, value, note, tone, has_footnote: hasFootnote }) => (
          <Sum key={name} name={name}>
            {value}
            {hasFootnote ? (
              <a href={`#${FOOTNOTE_ID}`} aria-label="Footnote 1: to the nano-dollar">
                <sup>1</sup>
              </a>
            ) : null}
            <small className={`report-${tone}`}>{note}</small>
          </Sum>
        ))}
      </dl>
      {last === null ? (
        <p className="quiet">First run of this job: there is nothing to compare it with.</p>
      ) : (
        <p className="quiet">
          Compared with the last run, <Link to={{ page: 'comparison', id: run, before: last }}>{last}</Link>.
        </p>
      )}
    </section>
  );
}
