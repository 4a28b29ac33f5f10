/**
 * The bundle of the observed workflows, made once for each state of its sources and shared by all processes.
 * Owns where it lies; a half-written one is never seen. It is made where it is needed, from the sources that every build
 * is made from, because no deployment loads it.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const ENTRY = 'testing/temporal/observed/observed-workflows.ts';
const INTERCEPTORS = 'testing/temporal/observed/observer-interceptors.ts';
const ROOT = rootAbove(import.meta.dirname);
/** Everything that can end up in it. */
const SOURCES = ['core', 'workflows', 'testing/temporal', 'package-lock.json'];

/** Resolves with its absolute path. */
export async function observedBundle(): Promise<string> {
  const file = path.join(tmpdir(), `parley-observed-workflows-${hashOfSources()}.js`);
  if (existsSync(file)) return file;
  const { code } = await bundleWorkflowCode({
    workflowsPath: path.join(ROOT, ENTRY),
    workflowInterceptorModules: [path.join(ROOT, INTERCEPTORS)],
    logger: new DefaultLogger('ERROR'),
  });
  const aside = `${file}.${process.pid}`;
  writeFileSync(aside, code);
  renameSync(aside, file);
  return file;
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    const files = source.includes('.') ? [''] : readdirSync(path.join(ROOT, source), { recursive: true });
    for (const file of files.map(String).sort()) {
      const at = path.join(ROOT, source, file);
      if (/\.(ts|json)$/.test(at)) hash.update(`${at}\0`).update(readFileSync(at)).update('\0');
    }
  }
  return hash.digest('hex').slice(0, 32);
}

/** This file runs from its own folder, or bundled in dist/. */
function rootAbove(folder: string): string {
  if (existsSync(path.join(folder, ENTRY)) || path.dirname(folder) === folder) return folder;
  return rootAbove(path.dirname(folder));
}
