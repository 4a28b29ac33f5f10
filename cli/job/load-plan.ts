/**
 * The plan that `run` and `plan` work on: compiled from a job file, or read from a saved plan.
 * Owns the check that a saved plan matches its hash; findings are printed here and nowhere else.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { PlanIssues } from '../../core/plan/plan-issue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { isDeeperThan } from '../../core/canonical-json.ts';
import { compileExplained, compileJob, type Compilation } from '../../dsl/compile-job.ts';
import type { JobSource } from '../../dsl/read/decode-source.ts';
import type { PlanOrigins } from '../../dsl/origins/origin.ts';
import { savedOrigins } from '../../dsl/origins/plan-origins.ts';
import { hashPlan } from '../../dsl/plan/plan-text.ts';
import type { AskedIssues, JobWorld } from '../../dsl/world.ts';
import { DEPTH_MAX } from '../../dsl/yaml-document.ts';
import { printDiagnostics } from '../../dsl/check/print-diagnostics.ts';
import { givenInputs, refuseInputs, type InputOptions } from './given-inputs.ts';
import { jobWorld, readJobFile, SHA256 } from '../../host/job/job-file.ts';
import { listedModels } from '../../host/job/listed-models.ts';
import type { Shell } from '../../host/shell.ts';

export interface PlanRequest {
  /** A job file, or a plan that `parley plan --out` wrote: its name ends in ".json". */
  readonly file: string;
  /** The job itself, for which `file` only says where it would lie; absent: it is read. */
  readonly text?: string;
  /** Folder beyond which the job reads nothing; absent: none. */
  readonly within?: string;
  /** Value of `--config`. */
  readonly config: string | undefined;
  readonly checksSecrets: boolean;
  /** Values for the inputs of the job; a saved plan has its own. */
  readonly inputs?: InputOptions;
  /** Of a run that the job belongs to; absent: no stage has written any. */
  readonly readStageRows?: NonNullable<JobWorld['readStageRows']>;
  /** Called before a code host is queried; throws for what may not be queried. Absent: everything may. */
  readonly checkAsked?: (asked: AskedIssues) => void;
  /** What code hosts answered to a run that the job belongs to; absent: they are queried. */
  readonly keptIssues?: () => Promise<readonly PlanIssues[]>;
  /** Whether issues with a result are left out; absent: none is. */
  readonly leavesDone?: boolean;
}

/** Null when the job has errors, which are printed to standard error. @throws ParleyError plan_invalid */
export async function loadPlan(shell: Shell, request: PlanRequest): Promise<Plan | null> {
  return (await load(shell, request, (source, world) => compileJob(source, world))).plan;
}

export interface ExplainedPlan {
  readonly plan: Plan;
  readonly origins: PlanOrigins;
}

/** The same, with the origin of each value. */
export async function loadExplainedPlan(shell: Shell, request: PlanRequest): Promise<ExplainedPlan | null> {
  let origins: PlanOrigins | null = null;
  const { plan } = await load(shell, request, (source, world) => {
    const compiled = compileExplained(source, world);
    ({ origins } = compiled);
    return compiled;
  });
  return plan === null ? null : { plan, origins: origins ?? savedOrigins(plan) };
}

type Compile = (source: JobSource, world: JobWorld) => Compilation;

async function load(
  shell: Shell,
  request: PlanRequest,
  compile: Compile,
): Promise<{ readonly plan: Plan | null }> {
  const { file, config, checksSecrets } = request;
  const inputs = givenInputs(shell, request.inputs ?? {});
  const bytes = request.text ?? readJobFile(file, shell.cwd);
  if (typeof bytes !== 'string' && file.endsWith('.json')) {
    refuseInputs(file, request.inputs ?? {});
    return { plan: readPlan(file, bytes) };
  }
  const { readStageRows, within } = request;
  const world: JobWorld = {
    ...jobWorld({
      ...{ shell, file, ...listedModels(shell, config), checksSecrets, inputs },
      ...(within === undefined ? {} : { within }),
    }),
    ...(readStageRows === undefined ? {} : { readStageRows }),
  };
  const source = { path: file, text: bytes };
  const first = compile(source, world);
  const { plan, diagnostics, texts } =
    first.openIssues.length === 0
      ? first
      : compile(source, await withIssues(shell, { request, world, first }));
  shell.stderr.write(printDiagnostics(diagnostics, texts, { format: 'pretty' }));
  return { plan };
}

interface Unasked {
  readonly request: PlanRequest;
  readonly world: JobWorld;
  readonly first: Compilation;
}

/** The world in which code hosts have answered the queries of the job. */
async function withIssues(shell: Shell, { request, world, first }: Unasked): Promise<JobWorld> {
  const { issueAnswers } = await import('./issue-answers.ts');
  const { config, keptIssues, leavesDone = false, checkAsked } = request;
  // Only a job with queries has a store opened for it.
  const kept = (await keptIssues?.()) ?? [];
  if (checkAsked !== undefined) first.openIssues.forEach(checkAsked);
  const readIssues = await issueAnswers(shell, first.openIssues, { config, kept, again: !leavesDone });
  return { ...world, readIssues };
}

/** The hash covers every field, so a plan that was edited, or is none, is found out. */
function readPlan(file: string, bytes: Uint8Array): Plan {
  const parsed = parseJson(file, bytes);
  if (isDeeperThan(DEPTH_MAX, parsed)) {
    const message = `Cannot use the plan "${file}": it nests more than ${DEPTH_MAX} levels deep`;
    throw new ParleyError('plan_invalid', message);
  }
  const { hash, ...rest } = typeof parsed === 'object' && parsed !== null ? (parsed as Partial<Plan>) : {};
  if (rest.format !== 1) {
    throw new ParleyError('plan_invalid', `Cannot use the plan "${file}": it is no plan of format 1`);
  }
  if (!Array.isArray(rest.items) || hash !== hashPlan(rest as Omit<Plan, 'hash'>, SHA256)) {
    throw new ParleyError(
      'plan_invalid',
      `Cannot use the plan "${file}": its hash does not match, so it was changed`,
    );
  }
  return parsed as Plan;
}

function parseJson(file: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new ParleyError('plan_invalid', `Cannot use the plan "${file}": it is not JSON`, { cause });
  }
}

/** The same plan with another number of conversations at once: a plan of its own, with its own hash. */
export function withConcurrency(plan: Plan, concurrency: number): Plan {
  const { hash: _hash, ...rest } = { ...plan, admission: { ...plan.admission, concurrency } };
  return { ...rest, hash: hashPlan(rest, SHA256) };
}
