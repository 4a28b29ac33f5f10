/**
 * `npm start`: everything a newcomer needs to see a batch run, from a fresh clone.
 * Installs, builds, and hands over to examples/first-batch with the same arguments, signals and exit code.
 */
import { build } from './build.js';
import { runNode } from './child.js';
import { setup } from './setup.js';

setup();
await build();
process.exitCode = await runNode(['examples/first-batch/main.js', ...process.argv.slice(2)]);
