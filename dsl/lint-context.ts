/** What the checks of a whole plan read: the plan, where its parts stand in the file, and what the deployment has. */
import type { Plan } from '../core/plan/plan.ts';
import type { Report } from './check/report.ts';
import type { JobDocument } from './schema/job-schema.ts';
import type { Tree } from './read/tree.ts';

export interface LintContext {
  readonly plan: Plan;
  readonly job: JobDocument;
  readonly root: Tree;
  readonly report: Report;
  readonly models: readonly string[] | null;
  readonly hasPrice: (model: string) => boolean | null;
}
