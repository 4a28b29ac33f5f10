/**
 * `npm run campaign -- [ARGUMENTS]`: builds when a source is newer, then runs `parley campaign` with them.
 * Owns the choice between the modes; what a campaign does is in simulator/campaign/ and cli/commands/campaign.ts.
 */
import path from 'node:path';
import { build } from './build.js';
import { runNode } from './child.js';
import { runMutants } from './mutants.js';
import { ROOT, setup } from './setup.js';

setup();
const args = process.argv.slice(2);
if (args.includes('--mutants')) process.exitCode = await runMutants(args);
else {
  await build();
  process.exitCode = await runNode([path.join(ROOT, 'dist', 'parley.js'), 'campaign', ...args]);
}
