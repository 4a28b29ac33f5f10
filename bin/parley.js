#!/usr/bin/env node
/**
 * The `parley` command: loads the built CLI, after building it when a source of this git checkout is newer.
 * No dependency and as little work as possible: it stands before every command.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

requireFolder();
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const program = path.join(root, 'dist', 'parley.js');

if (existsSync(path.join(root, '.git'))) {
  const { isFresh } = await import('../scripts/sources.js');
  if (!existsSync(program) || !isFresh(root)) await buildFirst();
}
await import(program);

async function buildFirst() {
  process.stderr.on('error', () => undefined);
  const { setup } = await import('../scripts/setup.js');
  setup({ toUse: true });
  process.stderr.write('parley: building …\n');
  const { build } = await import('../scripts/build.js');
  await build();
}

/** Everything asks where it was called; a folder that was removed under a shell is no answer. */
function requireFolder() {
  try {
    process.cwd();
  } catch {
    process.stderr.write('parley: Cannot start: the folder it was called in does not exist any more\n');
    process.stderr.write('  = change to a folder that exists\n');
    process.exit(2);
  }
}
