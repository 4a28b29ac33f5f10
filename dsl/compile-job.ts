/**
 * YAML text to plan and findings: the passes in their order, and nothing else.
 * Pure: the world beside the file is a parameter. Broken input is data; an exception here is a bug.
 */
import type { Plan } from '../core/plan.ts';
import { buildPlan } from './build-plan.ts';
import { checkConflicts } from './check/check-conflicts.ts';
import type { CheckContext } from './check/check-context.ts';
import { checkIds } from './check/check-ids.ts';
import { checkPrompts, type PromptFiles } from './check/check-prompts.ts';
import { checkSecrets } from './check/check-secrets.ts';
import { checkTemplates } from './check/check-templates.ts';
import type { JobSource } from './decode-source.ts';
import type { Diagnostic } from './diagnostic.ts';
import { expandItems } from './expand-items.ts';
import { JOB_LANGUAGE } from './job-language.ts';
import { lint } from './lint.ts';
import { checkSchema, readDocument } from './read-document.ts';
import { createReport } from './report.ts';
import { jobSchema, type JobDocument } from './schema/job-schema.ts';
import type { JobWorld } from './world.ts';

export interface Compilation {
  /** Null when there is an error; warnings leave it. */
  readonly plan: Plan | null;
  /** Sorted by position, at most DIAGNOSTICS_MAX. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Compiles a job file. Never throws for anything the file holds. */
export function compileJob(source: JobSource, world: JobWorld): Compilation {
  const { plan, diagnostics } = compileAmendable(source, world);
  return { plan, diagnostics };
}

export interface AmendableCompilation extends Compilation {
  /** The plan of the job with its guards changed: same items, no findings. Null as `plan` is. */
  amended(amend: (job: JobDocument) => JobDocument): Plan | null;
}

/** Compiles a job file for a scenario, which lifts guards of the job and plans it again. */
export function compileAmendable(source: JobSource, world: JobWorld): AmendableCompilation {
  const { report, root } = readDocument(source, JOB_LANGUAGE);
  const failed = { plan: null, amended: () => null };
  if (root === null) return { ...failed, diagnostics: report.diagnostics() };
  const job = checkSchema(root, jobSchema, report);
  const context = { root, report, world };
  const prompts = checkReferences(context);
  if (job === null || report.hasErrors()) return { ...failed, diagnostics: report.diagnostics() };
  const plan = planJob(job, { ...context, prompts });
  if (plan !== null) lint({ plan, root, report, models: world.models ?? null });
  if (plan === null || report.hasErrors()) return { ...failed, diagnostics: report.diagnostics() };
  return {
    plan,
    diagnostics: report.diagnostics(),
    amended: (amend) =>
      planJob(amend(job), {
        ...context,
        report: createReport(source.path, report.text, JOB_LANGUAGE),
        prompts,
      }),
  };
}

/** These read the file, not the checked job, so that they speak even when another part of it is broken. */
function checkReferences(context: CheckContext): PromptFiles {
  checkIds(context);
  checkConflicts(context);
  checkSecrets(context);
  checkTemplates(context);
  return checkPrompts(context);
}

interface PlanContext extends CheckContext {
  readonly prompts: PromptFiles;
}

function planJob(job: JobDocument, context: PlanContext): Plan | null {
  const items = expandItems(job, context);
  if (context.report.hasErrors()) return null;
  return buildPlan(job, items, (text) => context.world.sha256(text));
}
