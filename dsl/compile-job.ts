/**
 * YAML text to plan and findings: the passes in their order, and nothing else.
 * Pure: the world beside the file is a parameter. Broken input is data; an exception here is a bug.
 */
import type { Plan } from '../core/plan.ts';
import { buildPlan } from './build-plan.ts';
import { checkConflicts } from './check/check-conflicts.ts';
import { checkConditions } from './check/check-conditions.ts';
import type { CheckContext } from './check/check-context.ts';
import { checkIds } from './check/check-ids.ts';
import { checkNeeds } from './check/check-needs.ts';
import { checkPrompts, type PromptFiles } from './check/check-prompts.ts';
import { checkSchedule } from './check/check-schedule.ts';
import { checkSecrets } from './check/check-secrets.ts';
import { checkTemplates } from './check/check-templates.ts';
import type { JobSource } from './decode-source.ts';
import type { Diagnostic } from './diagnostic.ts';
import { entryScopes } from './entry-scope.ts';
import { expandItems } from './expand-items.ts';
import { extendJob } from './extend-job.ts';
import { fillInputs, lintInputs } from './inputs/fill-inputs.ts';
import { resolveInputs, type ResolvedInputs } from './inputs/resolve-inputs.ts';
import { JOB_LANGUAGE } from './job-language.ts';
import { lint } from './lint.ts';
import { checkSchema, readDocument } from './read-document.ts';
import { createReport } from './report.ts';
import { openDataFiles } from './rows/open-data-files.ts';
import { jobSchema, type JobDocument } from './schema/job-schema.ts';
import type { JobWorld } from './world.ts';

export interface Compilation {
  /** Null when there is an error, or an open input; warnings leave it. */
  readonly plan: Plan | null;
  /** Sorted by position, at most DIAGNOSTICS_MAX. */
  readonly diagnostics: readonly Diagnostic[];
  /** The file, and those it builds on, by path: for excerpts. */
  readonly texts: ReadonlyMap<string, string>;
  /** Inputs without a value, where the world did not ask for them: there is no plan, and no error either. */
  readonly openInputs: readonly string[];
}

/** Compiles a job file. Never throws for anything the file holds. */
export function compileJob(source: JobSource, world: JobWorld): Compilation {
  const { amended: _amended, ...compilation } = compileAmendable(source, world);
  return compilation;
}

export interface AmendableCompilation extends Compilation {
  /** The plan of the job with its guards changed: same items, no findings. Null as `plan` is. */
  amended(amend: (job: JobDocument) => JobDocument): Plan | null;
}

/** Compiles a job file for a scenario, which lifts guards of the job and plans it again. */
export function compileAmendable(source: JobSource, world: JobWorld): AmendableCompilation {
  let inputs: ResolvedInputs = { types: {}, values: new Map(), open: [] };
  const { report, root } = readDocument(source, JOB_LANGUAGE, (written, into) => {
    const whole = extendJob(written, { report: into, world });
    if (whole === null) return null;
    inputs = resolveInputs({ root: whole, report: into, world });
    lintInputs(whole, inputs, into);
    return fillInputs(whole, inputs, into);
  });
  const found = (): Pick<AmendableCompilation, 'diagnostics' | 'texts' | 'openInputs'> => ({
    diagnostics: report.diagnostics(),
    texts: report.texts(),
    openInputs: inputs.open,
  });
  const failed = { plan: null, amended: () => null };
  if (root === null) return { ...failed, ...found() };
  const job = checkSchema(root, jobSchema, report);
  const scopes = entryScopes(root, inputs, openDataFiles({ root, report, world }));
  const context = { root, report, world, inputs, scopes };
  const prompts = checkReferences(context);
  if (job === null || report.hasErrors() || inputs.open.length > 0) return { ...failed, ...found() };
  const plan = planJob(job, { ...context, prompts });
  if (plan !== null) lint({ plan, job, root, report, models: world.models ?? null });
  if (plan === null || report.hasErrors()) return { ...failed, ...found() };
  return {
    plan,
    ...found(),
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
  checkNeeds(context);
  checkSchedule(context);
  checkSecrets(context);
  checkTemplates(context);
  checkConditions(context);
  return checkPrompts(context);
}

interface PlanContext extends CheckContext {
  readonly prompts: PromptFiles;
}

function planJob(job: JobDocument, context: PlanContext): Plan | null {
  const items = expandItems(job, context);
  if (context.report.hasErrors()) return null;
  return buildPlan(job, { items, inputs: context.inputs.values }, (text) => context.world.sha256(text));
}
