/**
 * `npm run check`: all that CI does, in the same order, on this machine.
 * Stops at the first step that fails and says which; must not change a file.
 */
import { runNode } from './child.js';
import { setup } from './setup.js';

/** What is run, from quick to slow. */
const STEPS = [
  ['format', ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.']],
  ['lint', ['node_modules/eslint/bin/eslint.js', '.', '--max-warnings', '0']],
  ['types', ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json', '--noEmit']],
  ['types of the console', ['node_modules/typescript/bin/tsc', '-p', 'web/tsconfig.json', '--noEmit']],
  ['build', ['scripts/build.js']],
  ['test', ['scripts/test.js']],
];

setup();
for (const [name, args] of STEPS) {
  const startedAt = Date.now();
  process.exitCode = await runNode(args);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  process.stderr.write(`check: ${name} ${process.exitCode === 0 ? 'ok' : 'failed'} (${seconds} s)\n`);
  if (process.exitCode !== 0) break;
}
