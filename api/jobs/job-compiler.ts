/**
 * What the API needs of the compiler of jobs, which is not its own.
 * Owns the interface; must not hold an implementation.
 */
import { z } from 'zod';
import type { Plan } from '../../core/plan/plan.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';

/** Lines and columns count from 1, columns in Unicode code points; the end is exclusive. */
export interface JobFinding {
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly remedy: string | null;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** What came of compiling a text. */
export interface CompiledJob {
  /** Null when there is an error, or an input without a value. */
  readonly plan: Plan | null;
  readonly findings: readonly JobFinding[];
  readonly openInputs: readonly string[];
}

/** Amounts are nano-USD; null where nothing is known. */
export interface JobOutlook {
  /** Sum of the limits; null when a conversation has none. */
  readonly costMaxNanoUsd: number | null;
  /** From what conversations of the earlier run cost: half of them, and nine of ten, cost at most this. */
  readonly costP50NanoUsd: number | null;
  readonly costP90NanoUsd: number | null;
  /** Conversations one behind the other on the slots there are, each as long as half of the earlier ones. */
  readonly timeP50Ms: number | null;
  readonly timeP90Ms: number | null;
  /** In flight at once, after every limit. */
  readonly peak: number;
  /** Sandboxes that those fill; null when the deployment is not known. */
  readonly sandboxesPeak: number | null;
  /** Conversations by model, the most first. */
  readonly models: Readonly<Record<string, number>>;
  /** What the run may spend; null without a budget. */
  readonly budgetNanoUsd: number | null;
  /** Sentences, one for each limit that the run will meet. */
  readonly limits: readonly string[];
}

/** Compiles jobs that come over the API. */
export interface JobCompiler {
  /** Reads nothing of this machine: a file that the job names is missing. Never throws for anything the text holds. */
  compile(text: string, inputs: Readonly<Record<string, string>>): CompiledJob;
  /** `history`: items of the last run of the job; empty without one. */
  outlook(plan: Plan, history: readonly RunItemRow[]): JobOutlook;
}

/** A page compiles after every pause in the typing; a longer job is a file, and for the command line. */
const TEXT_CHARS_MAX = 256 * 1024;
const INPUTS_MAX = 100;
const VALUE_CHARS_MAX = 10_000;

/** Fields of a body. */
export const jobTextFields = {
  text: z.string().max(TEXT_CHARS_MAX),
  inputs: z
    .record(z.string(), z.string().max(VALUE_CHARS_MAX))
    .refine((inputs) => Object.keys(inputs).length <= INPUTS_MAX, `Input should have at most ${INPUTS_MAX}`)
    .default({}),
};
