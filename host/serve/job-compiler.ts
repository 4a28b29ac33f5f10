/**
 * The compiler of jobs for the API: a text of a client, compiled without any file around it.
 * Owns that no file, variable or secret of this machine is reached from it.
 */
import type { CompiledJob, JobCompiler, JobFinding } from '../../api/jobs/job-compiler.ts';
import type { Deployment } from '../../ports/deployment.ts';
import { compileJob } from '../../dsl/compile-job.ts';
import type { Diagnostic } from '../../dsl/check/diagnostic.ts';
import type { JobWorld } from '../../dsl/world.ts';
import { SHA256 } from '../job/job-file.ts';
import { planOutlook } from '../job/plan-outlook.ts';

/** As findings name the text. */
const NAME = 'job.yaml';

export interface CompilerParts {
  /** Names that the proxy lists at this moment. */
  readonly models: () => readonly string[];
  readonly hasPrice?: NonNullable<JobWorld['hasPrice']>;
  readonly deployment: Pick<Deployment, 'capacity' | 'limits'>;
}

/** Compiles text that came over the API, without a file of this machine. */
export function createJobCompiler({ models, hasPrice, deployment }: CompilerParts): JobCompiler {
  const world: JobWorld = {
    readFile: () => ({ problem: 'missing' }),
    readIssues: () => ({
      problem: 'issues of a code host are not read for a job that comes as a text',
      remedy: 'start it with "parley run", which asks the code host',
    }),
    ...SHA256,
    ...(hasPrice === undefined ? {} : { hasPrice }),
  };
  return {
    compile: (text, typed) => compiled({ ...world, models: models(), ...given(typed) }, text),
    outlook: (plan, history) => planOutlook(plan, { deployment, history }),
  };
}

/** Without values none were requested, and the inputs without a default are reported as open. */
function given(typed: Readonly<Record<string, string>>): Pick<JobWorld, 'inputs'> {
  return Object.keys(typed).length === 0 ? {} : { inputs: { typed, values: {} } };
}

function compiled(world: JobWorld, text: string): CompiledJob {
  const { plan, diagnostics, openInputs } = compileJob({ path: NAME, text }, world);
  return { plan, findings: diagnostics.map(findingOf), openInputs };
}

function findingOf(diagnostic: Diagnostic): JobFinding {
  const { code, severity, message, remedy, line, column, endLine, endColumn } = diagnostic;
  return { code, severity, message, remedy, line, column, endLine, endColumn };
}
