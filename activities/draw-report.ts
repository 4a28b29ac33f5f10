/**
 * A report of a run as a text in somebody's hand: written nowhere, by whoever may read the store.
 * Owns which forms there are; what a report says is in report/.
 */
import type { RunId } from '../core/ids.ts';
import { renderHtml } from '../report/html/render-html.ts';
import { renderGithub } from '../report/summary/render-github.ts';
import { renderSlack } from '../report/summary/render-slack.ts';
import { gatherReport } from './report/gather-report.ts';
import type { ReportWorld } from './report/report-world.ts';

/** `html`: the page. `github`: Markdown for a job summary or a comment. `slack`: the body of a message, as JSON. */
export type DrawnForm = 'html' | 'github' | 'slack';

/** @throws ParleyError not_found, plan_invalid */
export async function drawReport(world: ReportWorld, runId: RunId, form: DrawnForm): Promise<string> {
  const data = await gatherReport(world, runId);
  switch (form) {
    case 'html':
      return renderHtml(data);
    case 'github':
      return renderGithub(data);
    case 'slack':
      return renderSlack(data);
  }
}
