/** The stamp of the workflow bundle: what fits is found, what does not is a sentence with its remedy. */
import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { checkBundle, findWorkflowBundle } from '../../host/engines/workflow-bundle.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const OWN = { program: '0.1.0', sdk: '1.24.0' };
const CODE = 'the workflows';
const HASH = createHash('sha256').update(CODE).digest('hex');

function bundle(stamp: unknown, code = CODE): string {
  const file = path.join(tempDir(), 'workflows.bundle.js');
  writeFileSync(file, code);
  writeFileSync(file.replace(/\.js$/, '.json'), JSON.stringify(stamp));
  return file;
}

const problemOf = (file: string): unknown => {
  try {
    return checkBundle(file, OWN);
  } catch (error) {
    return error;
  }
};

it('takes a bundle of this program, and names its build', () => {
  const file = bundle({ ...OWN, hash: HASH });
  expect(checkBundle(file, OWN)).toEqual({ path: file, buildId: `0.1.0-${HASH.slice(0, 12)}` });
});

it('takes the one that the build makes', () => {
  expect(findWorkflowBundle().buildId).toMatch(/^\d+\.\d+\.\d+-[0-9a-f]{12}$/);
});

it.each([
  ['missing', { ...OWN, hash: HASH }, 'it is missing'],
  ['without a stamp', 'none', 'nothing says what it was made by'],
  [
    'of another package',
    { ...OWN, sdk: '1.23.0', hash: HASH },
    'it was made by @temporalio/worker 1.23.0, and 1.24.0 is installed',
  ],
  [
    'of another program',
    { ...OWN, program: '0.0.9', hash: HASH },
    'it was made by Parley 0.0.9, and this is 0.1.0',
  ],
  ['changed', { ...OWN, hash: '0'.repeat(64) }, 'it was changed since'],
])('refuses one that is %s', (name, stamp, because) => {
  const file = bundle(stamp);
  if (name === 'missing') rmSync(file);
  const problem = problemOf(file);
  expect(problem).toBeInstanceOf(ParleyError);
  expect(problem).toMatchObject({
    code: 'engine_misconfigured',
    message: `Cannot use the bundle of workflows: ${because}`,
    remedy: 'build it anew with "npm run build"',
  });
});
