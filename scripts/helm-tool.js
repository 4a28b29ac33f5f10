/**
 * Installs Helm, where it is missing, with Go: the tests of the chart render it. It goes into a cache outside the tree,
 * and is there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isProgram, onPath } from './find-program.js';
import { withLock } from './lock.js';
import { runNetworkStep } from './run-quietly.js';
import { toolsFolder } from './temporal-tools.js';

const HELM_VERSION = 'v3.22.0';

/** Where Helm is: on the path, or in the cache; null when it is neither. */
export function installedHelm(env) {
  const cached = path.join(toolsFolder(env), `helm-${HELM_VERSION}`, 'helm');
  return onPath('helm', env) ?? (isProgram(cached) ? cached : null);
}

/** Installs it; resolves with a line that says how it went. */
export async function installHelm(env) {
  mkdirSync(toolsFolder(env), { recursive: true });
  return await withLock(path.join(toolsFolder(env), '.helm.lock'), () => install(env));
}

async function install(env) {
  const there = installedHelm(env);
  if (there !== null) return { ok: true, line: there };
  const go = onPath('go', env);
  if (go === null) return { ok: false, line: 'go is not installed' };
  const folder = path.join(toolsFolder(env), `helm-${HELM_VERSION}`);
  const startedAt = Date.now();
  const target = `${folder}.new`;
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  try {
    const source = `helm.sh/helm/v3/cmd/helm@${HELM_VERSION}`;
    await runNetworkStep(`go install ${source}`, go, ['install', source], { env: { ...env, GOBIN: target } });
    rmSync(folder, { recursive: true, force: true });
    renameSync(target, folder);
    return { ok: true, line: `installed in ${Math.round((Date.now() - startedAt) / 1000)} s` };
  } catch (error) {
    return { ok: false, line: error.message };
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { ok, line } = await installHelm(process.env);
  process.stderr.write(`parley: ${ok ? 'Helm' : 'Cannot install Helm'}: ${line}\n`);
  if (process.env.CI === 'true' && !ok) process.exitCode = 1;
}
