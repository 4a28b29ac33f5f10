/**
 * The bundle of the observed workflows, made once for each state of its sources and shared by all processes of a test run.
 * Owns where it lies; a half-written one is never seen.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const ENTRY = path.join(import.meta.dirname, 'observed-workflows.ts');
const INTERCEPTORS = path.join(import.meta.dirname, 'observer-interceptors.ts');
/** Everything that can end up in it. */
const SOURCES = ['core', 'workflows', 'test/conformance/temporal', 'package-lock.json'];

/** Resolves with its absolute path. */
export async function observedBundle(): Promise<string> {
  const file = path.join(tmpdir(), `parley-observed-workflows-${hashOfSources()}.js`);
  if (existsSync(file)) return file;
  const { code } = await bundleWorkflowCode({
    workflowsPath: ENTRY,
    workflowInterceptorModules: [INTERCEPTORS],
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
