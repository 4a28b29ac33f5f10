/**
 * The report of a run: sums against the last run, what failed, the items, charts, and the money to the nano-dollar.
 * Owns the order, which is that of `report.html`; the items are those of the run's page.
 */
import type { ReactElement } from 'react';
import { PageHead } from '../components/page-head.tsx';
import { Badge, Loaded, Notice, When } from '../components/parts.tsx';
import { useAnswer } from '../data/use-polled.ts';
import { ReportFailures } from '../report/report-failures.tsx';
import { ReportFigures } from '../report/report-figures.tsx';
import { Section, type Report, FOOTNOTE_ID, ReportTiles } from '../report/report-section.tsx';
import { Link } from '../routing/link.tsx';
import { ItemsSection } from '../run/items-section.tsx';
import { phaseOf } from '../run/run-phase.ts';
import { RunReports } from '../run/run-reports.tsx';

/** Of thousands of conversations it is read by the second: a report is no ticker. */
const EVERY_MS = 20_000;

const NOTICE_TONES = { plain: 'calm', good: 'good', bad: 'bad' } as const;

export function ReportPage({ id }: { readonly id: string }): ReactElement {
  const params = { run_id: id };
  const { value: run, problem: runProblem, again } = useAnswer('getRun', { params }, EVERY_MS);
  const isOver = run?.phase === 'finished';
  const { value: report, problem } = useAnswer('getRunReport', { params }, isOver ? null : EVERY_MS);
  const value = run === null || report === null ? null : { run, report };
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
      <Loaded of={{ value, problem: runProblem ?? problem }}>
        {(read) => (
          <>
            <Verdicts report={read.report} />
            <ReportTiles run={id} report={read.report} />
            <ReportFailures report={read.report} />
            <ItemsSection run={read.run} onChange={again} />
            <ReportFigures figures={read.report.figures} />
            {read.report.sections.map((section, at) => (
              <Section key={at} section={section} />
            ))}
            <Section section={read.report.footnote} id={FOOTNOTE_ID} />
          </>
        )}
      </Loaded>
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
