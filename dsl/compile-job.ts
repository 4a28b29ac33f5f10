/**
 * YAML text to plan and findings: the passes in their order, and nothing else.
 * Pure: the world beside the file is a parameter. Broken input is data; an exception here is a bug.
 */
import type { Plan } from '../core/plan/plan.ts';
import { buildPlan } from './plan/build-plan.ts';
import { checkConflicts } from './check/check-conflicts.ts';
import { checkConditions } from './check/check-conditions.ts';
import type { CheckContext } from './check/check-context.ts';
import { checkIds, checkNeeds } from './check/check-needs.ts';
import { checkPrompts, type PromptFiles } from './check/check-prompts.ts';
import { checkSchedule } from './check/check-schedule.ts';
import { checkSecrets } from './check/check-secrets.ts';
import { checkTemplates } from './check/check-templates.ts';
import type { JobSource } from './read/decode-source.ts';
import type { Diagnostic } from './check/diagnostic.ts';
import { defined } from './defined.ts';
import type { ExpandContext, ItemTrace } from './plan/entry.ts';
import { entryScopes } from './plan/entry-scope.ts';
import { expandItems } from './plan/expand-items.ts';
import { extendJob } from './plan/extend-job.ts';
import { fillInputs, lintInputs } from './inputs/fill-inputs.ts';
import { resolveInputs, type ResolvedInputs } from './inputs/resolve-inputs.ts';
import { JOB_LANGUAGE } from './job-language.ts';
import { lint } from './check/lint.ts';
import type { PlanOrigins } from './origins/origin.ts';
import { planOrigins } from './origins/plan-origins.ts';
import { checkSchema, readDocument } from './read/read-document.ts';
import { createReport, type Report } from './check/report.ts';
import { openDataFiles } from './rows/open-data-files.ts';
import { jobSchema, type JobDocument } from './schema/job-schema.ts';
import type { Tree } from './read/tree.ts';
import type { AskedIssues, JobWorld } from './world.ts';

/** What became of a job file: a plan, or findings that say why not. */
export interface Compilation {
  /** Null when there is an error, or an open input; warnings leave it. */
  readonly plan: Plan | null;
  /** Sorted by position, at most DIAGNOSTICS_MAX. */
  readonly diagnostics: readonly Diagnostic[];
  /** The file, and those it builds on, by path: for excerpts. */
  readonly texts: ReadonlyMap<string, string>;
  /** Inputs without a value, where the world was given none: there is no plan, and no error either. */
  readonly openInputs: readonly string[];
  /** Queries that code hosts have not answered, where the world sends none: there is no plan, and no error either. */
  readonly openIssues: readonly AskedIssues[];
}

/** Compiles a job file. Never throws for anything the file holds. */
export function compileJob(source: JobSource, world: JobWorld): Compilation {
  const { amended: _amended, parts: _parts, ...compilation } = compileAmendable(source, world);
  return compilation;
}

interface ExplainedCompilation extends Compilation {
  /** Null as `plan` is. */
  readonly origins: PlanOrigins | null;
}

/** Compiles a job file for a caller that wants to know where each value comes from. */
export function compileExplained(source: JobSource, world: JobWorld): ExplainedCompilation {
  const traces: ItemTrace[] = [];
  const compiled = compileAmendable(source, { ...world, onItem: (trace) => traces.push(trace) });
  const { amended: _amended, parts, ...compilation } = compiled;
  const { plan } = compilation;
  const given = world.inputs ?? { typed: {}, values: {} };
  const origins = plan === null || parts === null ? null : planOrigins({ plan, ...parts, traces, given });
  return { ...compilation, origins };
}

export interface AmendableCompilation extends Compilation {
  /** The plan of the job with its guards changed: same items, no findings. Null as `plan` is. */
  amended(amend: (job: JobDocument) => JobDocument): Plan | null;
  /** The file in long form; null as `plan` is. */
  readonly parts: { readonly root: Tree; readonly report: Report } | null;
}

type TracedWorld = JobWorld & Pick<ExpandContext, 'onItem'>;

/** Compiles a job file for a scenario, which lifts guards of the job and plans it again. */
export function compileAmendable(source: JobSource, world: TracedWorld): AmendableCompilation {
  let inputs: ResolvedInputs = { types: {}, values: new Map(), open: [] };
  const { report, root } = readDocument(source, JOB_LANGUAGE, (written, into) => {
    const whole = extendJob(written, { report: into, world });
    if (whole === null) return null;
    inputs = resolveInputs({ root: whole, report: into, world });
    lintInputs(whole, inputs, into);
    return fillInputs(whole, inputs, into);
  });
  let openIssues: readonly AskedIssues[] = [];
  const found = (): Pick<AmendableCompilation, 'diagnostics' | 'texts' | 'openInputs' | 'openIssues'> => ({
    diagnostics: report.diagnostics(),
    texts: report.texts(),
    openInputs: inputs.open,
    openIssues,
  });
  const failed = { plan: null, amended: () => null, parts: null };
  if (root === null) return { ...failed, ...found() };
  const job = checkSchema(root, jobSchema, report);
  const scopes = entryScopes(root, inputs, openDataFiles({ root, report, world }));
  const context = { root, report, world, inputs, scopes };
  const prompts = checkReferences(context);
  if (job === null || report.hasErrors() || inputs.open.length > 0) return { ...failed, ...found() };
  openIssues = [...scopes.values()].flatMap(({ data }) => data?.unasked ?? []);
  if (openIssues.length > 0) return { ...failed, ...found() };
  const plan = planJob(job, { ...context, prompts, ...defined({ onItem: world.onItem }) });
  if (plan !== null) {
    const hasPrice = (model: string): boolean | null => world.hasPrice?.(model) ?? null;
    lint({ plan, root, report, models: world.models ?? null, hasPrice });
  }
  if (plan === null || report.hasErrors()) return { ...failed, ...found() };
  return {
    plan,
    ...found(),
    parts: { root, report },
    amended: (amend) =>
      planJob(amend(job), {
        ...context,
        report: createReport(source.path, report.text, JOB_LANGUAGE),
        prompts,
      }),
  };
}

/** These read the file, not the checked job, so that they report even when another part of it is broken. */
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

function planJob(job: JobDocument, context: Omit<ExpandContext, 'job'>): Plan | null {
  const items = expandItems(job, {
    ...context,
    job,
    ...defined({ affinity: job.placement?.pool?.affinity }),
  });
  if (context.report.hasErrors()) return null;
  const issues = [...context.scopes.values()].flatMap(({ data }) => data?.issues ?? []);
  return buildPlan(job, { items, issues, inputs: context.inputs.values }, context.world);
}
