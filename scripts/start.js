/**
 * `npm start`: everything a newcomer needs to see a batch run, from a fresh clone.
 * Installs, builds, and runs examples/first-batch with the same arguments, signals and exit code.
 */
import path from 'node:path';
import { build } from './build.js';
import { runNode } from './child.js';
import { ROOT, setup } from './setup.js';

// Temporal's packages are larger than all others together: they are installed only for that engine.
const wantsTemporal = process.env.TEMPORAL_ADDRESS !== undefined || process.argv.includes('temporal');
setup({ toUse: !wantsTemporal });
await build();
// A newcomer expects results where the command was typed.
process.env.PARLEY_RESULTS_DIR ||= path.join(ROOT, 'out');
// What is printed to type next works as it stands, from where this was typed.
process.env.PARLEY_COMMAND ||= 'npm start --';
process.exitCode = await runNode(['examples/first-batch/main.js', ...process.argv.slice(2)]);
