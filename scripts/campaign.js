/**
 * `npm run campaign -- [ARGUMENTS]`: builds when a source is newer, then runs `parley campaign` with them.
 * Owns the choice between the modes; what a campaign does is in simulator/campaign/ and cli/commands/campaign.ts.
 */
import path from 'node:path';
import { build } from './build.js';
import { runNode } from './child.js';
import { ROOT, setup } from './setup.js';

setup();
await build();
process.exitCode = await runNode([
  path.join(ROOT, 'dist', 'parley.js'),
  'campaign',
  ...process.argv.slice(2),
]);
