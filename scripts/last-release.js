/**
 * Installs the last release, where it is missing: packed from the commit that test/upgrade/last-release.json names, and
 * installed for everybody into a prefix of a cache outside the tree, with the packages of the Temporal engine. The tests
 * of an upgrade start it.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { withLock } from './lock.js';
import { runNetworkStep, runQuietly } from './run-quietly.js';
import { ROOT } from './setup.js';
import { toolsFolder } from './temporal-tools.js';

const { commit: COMMIT } = JSON.parse(
  readFileSync(path.join(ROOT, 'test', 'upgrade', 'last-release.json'), 'utf8'),
);

/** The folder of the installed package; null when it is not there. */
export function installedLastRelease(env) {
  const folder = path.join(prefixOf(env), 'lib', 'node_modules', 'parley');
  return existsSync(path.join(folder, 'bin', 'parley.js')) ? folder : null;
}

/** Why the last release cannot be started here, as a sentence; null when it can. */
export function lastReleaseMissing(env) {
  if (installedLastRelease(env) !== null) return null;
  return isInHistory()
    ? 'the last release is not installed; install it with "node scripts/last-release.js"'
    : `the commit of the last release, ${COMMIT.slice(0, 12)}, is not in this clone; "git fetch --unshallow" brings it`;
}

/** Installs it; resolves with a line that says how it went. A clone without the commit needs none: its tests are skipped. */
export async function installLastRelease(env) {
  mkdirSync(toolsFolder(env), { recursive: true });
  return await withLock(path.join(toolsFolder(env), '.last-release.lock'), () => install(env));
}

async function install(env) {
  const there = installedLastRelease(env);
  if (there !== null) return { ok: true, line: there };
  if (!isInHistory()) return { ok: true, line: lastReleaseMissing(env) };
  const startedAt = Date.now();
  const work = `${prefixOf(env)}.new`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(path.join(work, 'prefix'), { recursive: true });
  try {
    const packed = await pack(work, env);
    await installPacked(work, packed, env);
    rmSync(prefixOf(env), { recursive: true, force: true });
    renameSync(path.join(work, 'prefix'), prefixOf(env));
    return { ok: true, line: `installed in ${Math.round((Date.now() - startedAt) / 1000)} s` };
  } catch (error) {
    return { ok: false, line: error.message };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
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
  const args = ['install', '--global', '--no-audit', '--no-fund', '--prefix', path.join(work, 'prefix')];
  await runNetworkStep('npm install of the last release', 'npm', [...args, packed, ...temporal], {
    cwd: work,
    env,
  });
}

function isInHistory() {
  return spawnSync('git', ['cat-file', '-e', `${COMMIT}^{commit}`], { cwd: ROOT }).status === 0;
}

function prefixOf(env) {
  return path.join(toolsFolder(env), `last-release-${COMMIT.slice(0, 12)}`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { ok, line } = await installLastRelease(process.env);
  process.stderr.write(`parley: ${ok ? 'the last release' : 'Cannot install the last release'}: ${line}\n`);
  if (process.env.CI === 'true' && !ok) process.exitCode = 1;
}
