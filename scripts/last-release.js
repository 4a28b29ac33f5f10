/**
 * Installs the last release, where it is missing: packed from the commit that test/upgrade/last-release.json names, and
 * installed for everybody into a prefix of a cache outside the tree, with the packages of the Temporal engine. The tests
 * of an upgrade start it.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { runNetworkStep, runQuietly } from './run-quietly.js';
import { ROOT } from './setup.js';
import { installTool, runAsProgram, toolsFolder } from './tool-cache.js';

const { commit: COMMIT } = JSON.parse(
  readFileSync(path.join(ROOT, 'test', 'upgrade', 'last-release.json'), 'utf8'),
);

/** The folder of the installed package; null when it is not there. @param {NodeJS.ProcessEnv} env */
export function installedLastRelease(env) {
  const folder = path.join(prefixOf(env), 'lib', 'node_modules', 'parley');
  return existsSync(path.join(folder, 'bin', 'parley.js')) ? folder : null;
}

/** Why the last release cannot be started here, as a sentence; null when it can. @param {NodeJS.ProcessEnv} env */
export function lastReleaseMissing(env) {
  if (installedLastRelease(env) !== null) return null;
  return isInHistory(COMMIT)
    ? 'the last release is not installed; install it with "node scripts/last-release.js"'
    : `the commit of the last release, ${COMMIT.slice(0, 12)}, is not in this clone; "git fetch --unshallow" brings it`;
}

async function fill(work, env) {
  const packed = await pack(work, env);
  await installPacked(work, packed, env);
  for (const part of ['source', path.basename(packed)]) rmSync(path.join(work, part), { recursive: true });
}

/** As `npm pack` makes it of a checkout of that commit; the path of the archive. */
async function pack(work, env) {
  const source = path.join(work, 'source');
  await runQuietly('git', ['clone', '--quiet', '--shared', '--no-checkout', ROOT, source], { env });
  await runQuietly('git', ['checkout', '--quiet', '--detach', COMMIT], { cwd: source, env });
  await runNetworkStep('npm ci of the last release', 'npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: source,
    env,
  });
  await runQuietly('npm', ['pack', '--silent', '--pack-destination', work], { cwd: source, env });
  const packed = readdirSync(work).find((name) => name.endsWith('.tgz'));
  if (packed === undefined) throw new Error('npm pack made no archive of the last release');
  return path.join(work, packed);
}

/** Global packages find each other: those of the Temporal engine lie beside the one that asks for them. */
async function installPacked(work, packed, env) {
  const text = readFileSync(path.join(work, 'source', 'package.json'), 'utf8');
  const temporal = Object.entries(JSON.parse(text).peerDependencies ?? {})
    .filter(([name]) => name.startsWith('@temporalio/'))
    .map(([name, version]) => `${name}@${version}`);
  const args = ['install', '--global', '--no-audit', '--no-fund', '--prefix', work];
  await runNetworkStep('npm install of the last release', 'npm', [...args, packed, ...temporal], {
    cwd: work,
    env,
  });
}

/** Whether this clone has that commit: a shallow one may not. @param {string} commit */
export function isInHistory(commit) {
  return spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT }).status === 0;
}

function prefixOf(env) {
  return path.join(toolsFolder(env), `last-release-${COMMIT.slice(0, 12)}`);
}

await runAsProgram(import.meta.url, 'last-release', (env) => {
  // A clone without the commit needs none: its tests are skipped.
  const there = installedLastRelease(env) ?? (isInHistory(COMMIT) ? null : lastReleaseMissing(env));
  const tool = { name: 'the last release', there, folder: prefixOf(env), needs: [] };
  return installTool(tool, env, (work) => fill(work, env));
});
