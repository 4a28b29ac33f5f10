/**
 * The report of a run: sums against the last run, what failed, the items, charts, and the money to the nano-dollar.
 * Owns the order, which is that of `report.html`; the items are those of the run's page.
 */
import { useCallback, type ReactElement } from 'react';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { Notice } from '../components/notice.tsx';
import { PageHead } from '../components/page-head.tsx';
import { When } from '../components/when.tsx';
import { usePolled } from '../data/use-polled.ts';
import { ReportFailures } from '../report/report-failures.tsx';
import { ReportFigures } from '../report/report-figures.tsx';
import { Section } from '../report/report-section.tsx';
import { FOOTNOTE_ID, ReportTiles } from '../report/report-tiles.tsx';
import type { Report } from '../report/report-types.ts';
import { Link } from '../routing/link.tsx';
import { ItemsSection } from '../run/items-section.tsx';
import { phaseOf } from '../run/run-phase.ts';
import { RunReports } from '../run/run-reports.tsx';
import { useSession } from '../session/session.ts';

/** Of thousands of conversations it is read by the second: a report is no ticker. */
const EVERY_MS = 20_000;

const NOTICE_TONES = { plain: 'calm', good: 'good', bad: 'bad' } as const;

export function ReportPage({ id }: { readonly id: string }): ReactElement {
  const { client } = useSession();
  const askRun = useCallback(
    (signal: AbortSignal) => client.getRun({ params: { run_id: id } }, { signal }),
    [client, id],
  );
  const askReport = useCallback(
    (signal: AbortSignal) => client.getRunReport({ params: { run_id: id } }, { signal }),
    [client, id],
  );
  const { value: run, problem: runProblem, again } = usePolled(askRun, EVERY_MS);
  const isOver = run?.phase === 'finished';
  const { value: report, problem } = usePolled(askReport, isOver ? null : EVERY_MS);
  const trouble = runProblem ?? problem;
  return (
    <>
      <PageHead
        title={run === null ? 'Report' : `Report of ${run.name}`}
        actions={run === null ? undefined : <RunReports run={run} />}
      >
        <Link to={{ page: 'runs' }}>Runs</Link> <Link to={{ page: 'run', id }}>{id}</Link>
        {run === null ? null : <Badge word={phaseOf(run)} />}
        {report === null ? null : (
          <span className="quiet">
            as it stood <When at={report.written_at} />
          </span>
        )}
      </PageHead>
      {run === null || report === null ? (
        <Empty isLoading={trouble === null} problem={trouble}>
          <p>There is no such run.</p>
        </Empty>
      ) : (
        <>
          {trouble === null ? null : <Notice tone="bad">{trouble}</Notice>}
          <Verdicts report={report} />
          <ReportTiles run={id} report={report} />
          <ReportFailures report={report} />
          <ItemsSection run={run} onChange={again} />
          <ReportFigures figures={report.figures} />
          {report.sections.map((section, at) => (
            <Section key={at} section={section} />
          ))}
          <Section section={report.footnote} id={FOOTNOTE_ID} />
        </>
      )}
    </>
  );
}

function Verdicts({ report: { description, verdicts } }: { readonly report: Report }): ReactElement {
  return (
    <>
      {description === null ? null : <p className="wrap">{description}</p>}
      {verdicts.map(({ words, tone }) => (
        <Notice key={words} tone={NOTICE_TONES[tone]}>
          {words}.
        </Notice>
      ))}
    </>
  );
}
