/**
 * The files of the repository that are generated from code, each with the function that gives its text.
 * Must not write: scripts/gen.ts writes, a test compares.
 */
import { jobSchema } from '../dsl/schema/json-schema.ts';
import { scenarioJsonSchema } from '../dsl/scenario/scenario-json-schema.ts';
import { lifecyclePage } from '../core/lifecycle-doc.ts';
import { faultsPage } from '../simulator/faults/faults-page.ts';

/** Path from the root → text. */
export const GENERATED: Readonly<Record<string, () => string>> = {
  'docs/faults.md': faultsPage,
  'docs/lifecycle.md': lifecyclePage,
  'schema/job.v1.json': () => `${JSON.stringify(jobSchema(), null, 2)}\n`,
  'schema/scenario.v1.json': () => `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`,
};
