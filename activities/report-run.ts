/**
 * reportRun: writes the reports that a plan asks for into the run's results, and draws one on request.
 * Owns the formats by name; activities/report/ gathers the content of a report.
 */
import type { RunId } from '../core/ids.ts';
import type { PlanReport } from '../core/plan/plan.ts';
import type { SpendLoss } from '../core/money/spend-loss.ts';
import type { Handler } from './activity.ts';
import { planOf } from './plan-item.ts';
import { lostSpend } from './reconcile/run-calls.ts';
import { gatherReport } from './report/gather-report.ts';
import type { ReportData } from '../report/report-data.ts';
import { reportDocument } from '../report/report-document.ts';
import { renderHtml } from '../report/html/render-html.ts';
import { renderJsonl } from '../report/render-jsonl.ts';
import { renderJunit } from '../report/render-junit.ts';
import { renderMarkdown } from '../report/render-markdown.ts';
import { renderGithub } from '../report/summary/render-github.ts';
import { renderSlack } from '../report/summary/render-slack.ts';
import type { ReportWorld } from './report/report-world.ts';
import type { World } from './world.ts';

export const reportRun = (world: World): Handler<'reportRun'> => ({
  run: async (command) => {
    await reportNow(world, command.runId);
    return { type: 'runReported', commandId: command.id };
  },
  // A run ends without its report, too: `parley report` writes it again.
  failed: (command) => ({ type: 'runReported', commandId: command.id }),
});

/** The result of writing the reports of a run. */
export interface Reported {
  /** Where each file is. */
  readonly files: readonly string[];
  /** Calls of the run's time that the store had lost; null when none are known. */
  readonly lost: SpendLoss | null;
}

/**
 * Writes every report of the plan, of a run that is still going on too, and says so in it. Nothing when the plan asks
 * for none.
 * @throws ParleyError not_found, plan_invalid, collect_failed when a file cannot be written
 */
export async function reportNow(world: World, runId: RunId): Promise<Reported> {
  const { report: reports } = await planOf(world, runId);
  if (reports.length === 0) return { files: [], lost: await lostSpend(world, runId) };
  const data = await gatherReport(world, runId);
  const files: string[] = [];
  for (const { format, file } of reports) {
    await world.results.write({ runId, key: null, name: file }, Buffer.from(render(format, data), 'utf8'));
    files.push(`${world.results.location(runId)}/${file}`);
  }
  return { files, lost: data.spendLost };
}

/** Forms that no plan asks for: Markdown for a job summary or a comment, and the body of a message, as JSON. */
type SummaryForm = 'github' | 'slack';
export type DrawnForm = 'html' | SummaryForm;

/** A report as text, not written to a file, for readers of the store. @throws ParleyError not_found, plan_invalid */
export async function drawReport(world: ReportWorld, runId: RunId, form: DrawnForm): Promise<string> {
  return render(form, await gatherReport(world, runId));
}

function render(format: PlanReport['format'] | SummaryForm, data: ReportData): string {
  switch (format) {
    case 'markdown':
      return renderMarkdown(reportDocument(data));
    case 'html':
      return renderHtml(data);
    case 'jsonl':
      return renderJsonl(data);
    case 'junit':
      return renderJunit(data);
    case 'github':
      return renderGithub(data);
    case 'slack':
      return renderSlack(data);
  }
}
