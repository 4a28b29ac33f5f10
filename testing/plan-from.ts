/**
 * A job as text, compiled to the plan that a world runs.
 * Owns the refusal of a job with errors; prompts in files are not read here.
 */
import { createHash } from 'node:crypto';
import type { Plan } from '../core/plan/plan.ts';
import { compileJob } from '../dsl/compile-job.ts';
import { printDiagnostics } from '../dsl/check/print-diagnostics.ts';

/** @throws Error with the findings when the job has errors */
export function planFrom(text: string): Plan {
  const sha256 = (whole: string): string => createHash('sha256').update(whole, 'utf8').digest('hex');
  const { plan, diagnostics } = compileJob(
    { path: 'job.yaml', text },
    { readFile: () => ({ problem: 'missing' }), sha256, inputs: { typed: {}, values: {} } },
  );
  if (plan !== null) return plan;
  throw new Error(
    `Cannot run the job: it has errors\n${printDiagnostics(diagnostics, text, { format: 'pretty' })}`,
  );
}
