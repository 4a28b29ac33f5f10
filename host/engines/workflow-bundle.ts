/**
 * The bundle of workflows that the build made, and whether it belongs to this program.
 * Owns the stamp beside it; must not load the bundle or a package of Temporal.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { z } from 'zod';
import { ParleyError } from '../../core/parley-error.ts';
import { parsedJson } from '../../core/text/parsed-json.ts';
import { buildIdOf } from '../../temporal/versioning/worker-version.ts';
import { builtProgram } from '../sandboxes/places.ts';
import { programVersion, versionIn } from '../program-version.ts';

export interface WorkflowBundle {
  /** Absolute. */
  readonly path: string;
  /** Names the build of the workflows: the same bytes, the same id. */
  readonly buildId: string;
}

export interface BundleVersions {
  readonly program: string;
  /** Version of @temporalio/worker, which the bundle depends on to the patch. */
  readonly sdk: string;
}

const stampSchema = z.object({ program: z.string(), sdk: z.string(), hash: z.string() });

/** @throws ParleyError engine_misconfigured when it is missing, changed, or made by another program or package */
export function findWorkflowBundle(): WorkflowBundle {
  const file = builtProgram('workflows.bundle.js');
  if (!existsSync(file)) throw unusable('it is missing');
  const require = createRequire(file);
  const sdk = versionIn(require.resolve('@temporalio/worker/package.json'));
  return checkBundle(file, { program: programVersion(), sdk });
}

export function checkBundle(file: string, own: BundleVersions): WorkflowBundle {
  const code = read(file);
  if (code === null) throw unusable('it is missing');
  const stamp = stampSchema.safeParse(
    parsedJson(read(file.replace(/\.js$/, '.json'))?.toString('utf8') ?? ''),
  );
  if (!stamp.success) throw unusable('nothing says what it was made by');
  const { program, sdk, hash } = stamp.data;
  if (sdk !== own.sdk) {
    throw unusable(`it was made by @temporalio/worker ${sdk}, and ${own.sdk} is installed`);
  }
  if (program !== own.program) throw unusable(`it was made by Parley ${program}, and this is ${own.program}`);
  if (createHash('sha256').update(code).digest('hex') !== hash) throw unusable('it was changed since');
  return { path: file, buildId: buildIdOf({ program, bundleHash: hash }) };
}

function unusable(because: string): ParleyError {
  return new ParleyError('engine_misconfigured', `Cannot use the bundle of workflows: ${because}`, {
    remedy: 'build it anew with "npm run build"',
  });
}

function read(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}
