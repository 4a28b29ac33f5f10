#!/usr/bin/env node
/**
 * The `parley` command: loads the built CLI, after building it when a source of this git checkout is newer.
 * No dependency and as little work as possible: it stands before every command.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const program = path.join(root, 'dist', 'parley.js');

if (existsSync(path.join(root, '.git'))) {
  const { isFresh } = await import('../scripts/sources.js');
  if (!existsSync(program) || !isFresh(root)) await buildFirst();
}
await import(program);

async function buildFirst() {
  const { setup } = await import('../scripts/setup.js');
  setup();
  process.stderr.write('parley: building …\n');
  const { build } = await import('../scripts/build.js');
  await build();
}
