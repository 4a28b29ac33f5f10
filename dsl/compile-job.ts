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
import { checkIndentation } from './check-indentation.ts';
import { decodeSource, type JobSource } from './decode-source.ts';
import type { Diagnostic } from './diagnostic.ts';
import { expandItems } from './expand-items.ts';
import { lint } from './lint.ts';
import { normalise } from './normalise.ts';
import { parseYaml } from './parse-yaml.ts';
import { createReport, type Report } from './report.ts';
import { addSchemaProblems, addUnknownKey } from './schema-problems.ts';
import { jobSchema, type JobDocument } from './schema/job-schema.ts';
import { toValue, type Tree } from './tree.ts';
import type { JobWorld } from './world.ts';

export interface Compilation {
  /** Null when there is an error; warnings leave it. */
  readonly plan: Plan | null;
  /** Sorted by position, at most DIAGNOSTICS_MAX. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Compiles a job file. Never throws for anything the file holds. */
export function compileJob(source: JobSource, world: JobWorld): Compilation {
  const decoded = decodeSource(source.text);
  if (!decoded.ok) {
    const report = createReport(source.path, '\n'.repeat(decoded.line - 1));
    const start = decoded.line - 1;
    report.add(decoded.code, { start, end: start }, decoded.message, { remedy: decoded.remedy });
    return { plan: null, diagnostics: report.diagnostics() };
  }
  const report = createReport(source.path, decoded.text);
  const plan = compileText(report, world);
  return { plan: report.hasErrors() ? null : plan, diagnostics: report.diagnostics() };
}

function compileText(report: Report, world: JobWorld): Plan | null {
  checkIndentation(report);
  if (report.hasErrors()) return null;
  const written = parseYaml(report);
  if (written === null) return null;
  if (written.kind !== 'map') {
    report.add('JOB203', written.span, 'a job is a map of keys', {
      remedy: 'start with "kind: job", "version: 1" and a name',
    });
    return null;
  }
  const root = toLongForm(written, report);
  const job = checkSchema(root, report);
  const prompts = checkReferences({ root, report, world });
  if (job === null || report.hasErrors()) return null;
  return planJob(job, { root, report, world, prompts });
}

function toLongForm(written: Tree, report: Report): Tree {
  return normalise(written, jobSchema, {
    report,
    at: [],
    unknownKey: (entry, at, allowed) =>
      addUnknownKey({ entry, at, allowed, emptySiblings: [] }, { missing: [], report }),
  });
}

function checkSchema(root: Tree, report: Report): JobDocument | null {
  const result = jobSchema.safeParse(toValue(root));
  if (!result.success) addSchemaProblems(result.error.issues, root, report);
  return result.success ? result.data : null;
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
  const plan = buildPlan(job, items, (text) => context.world.sha256(text));
  lint({ plan, root: context.root, report: context.report, models: context.world.models ?? null });
  return plan;
}
