/**
 * The files of the repository that are generated from code, each with the function that gives its text.
 * Must not write: scripts/gen.ts writes, a test compares.
 */
import { operationsText } from '../api/client/operations-text.ts';
import { deploymentJsonSchema } from '../host/config/schema/deployment-json-schema.ts';
import { editorSchema } from '../dsl/reference/editor-schema.ts';
import { scenarioJsonSchema } from '../dsl/scenario/scenario-json-schema.ts';
import { referencePage } from '../dsl/reference/reference-page.ts';
import { lifecyclePage } from '../core/machine/lifecycle-doc.ts';
import { faultsPage } from '../simulator/faults/faults-page.ts';
import { chartValuesPage } from './chart-values-page.ts';
import { exampleOf } from './examples-of-keys.ts';
import { sharedStyleText } from './shared-style.ts';

/** Path from the root → text. */
export const GENERATED: Readonly<Record<string, () => string>> = {
  'api/client/operations.ts': operationsText,
  'docs/chart-values.md': chartValuesPage,
  'docs/faults.md': faultsPage,
  'docs/lifecycle.md': lifecyclePage,
  'docs/reference.md': () => referencePage(exampleOf),
  'report/page/shared-style.ts': sharedStyleText,
  'schema/deployment.v1.json': () => `${JSON.stringify(deploymentJsonSchema(), null, 2)}\n`,
  'schema/job.v1.json': () => `${JSON.stringify(editorSchema(), null, 2)}\n`,
  'schema/scenario.v1.json': () => `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`,
};
