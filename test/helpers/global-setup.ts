/**
 * Builds the programs once before any test runs, so that tests which start one need no build of their own.
 * Must not install: the runner is already there.
 */
import { execFileSync } from 'node:child_process';
import path from 'node:path';

export function setup(): void {
  const root = path.resolve(import.meta.dirname, '../..');
  execFileSync(process.execPath, ['scripts/build.js'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}
