/** The tutorial, by the programs of this checkout. */
import path from 'node:path';
import { it } from 'vitest';
import { ROOT } from '../cli/parley-program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { expectTutorial } from './typed-tutorial.ts';

it('leads from an empty folder to a reconciled report', async () => {
  // The built program itself: it is newer than its sources when tests begin.
  await expectTutorial(tempDir(), path.join(ROOT, 'dist/parley.js'));
}, 900_000);
