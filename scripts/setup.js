/**
 * Makes a fresh clone able to run: the right Node, and the dependencies of package-lock.json in node_modules, all of
 * them or those that a user of the program needs.
 * Plain JavaScript without a dependency, because it runs before anything is installed; must not build or start anything.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.js';
import { packagesToUse } from './packages-to-use.js';

/** The folder of package.json; every script works from here, wherever it was called. */
export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Oldest Node that runs every dependency; the same as `engines` in package.json. */
const NODE_MIN = [20, 19];

/** Says whose lock file the installed packages follow, so that the usual start costs one hash. */
const STAMP = path.join(ROOT, 'node_modules', '.parley-setup');

/** Behind the hash of the stamp: only what `packagesToUse` names is there. */
const TO_USE = ' to use';

/**
 * Ensures Node and the dependencies; ends the process with a sentence when it cannot.
 * Installs once, however many processes call it at the same time.
 * With `toUse` what runs the first batch is enough: a seventh of what development takes.
 */
export function setup({ toUse = false } = {}) {
  requireNode(process.versions.node);
  const lockText = readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8');
  const isEnough = () => isComplete(lockText) || (toUse && isInstalledToUse(lockText));
  if (isEnough()) return;
  mkdirSync(path.join(ROOT, 'dist'), { recursive: true });
  withLock(path.join(ROOT, 'dist', '.setup.lock'), () => {
    if (isEnough()) return;
    if (toUse) installToUse(lockText);
    else install(lockText);
  });
}

/** True when a package is there: not all are where a checkout is only used. */
export function isInstalled(name) {
  return existsSync(path.join(ROOT, 'node_modules', name));
}

/** Ends the process when `version` is older than Parley supports. */
function requireNode(version) {
  const [major, minor] = version.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  fail(`Cannot run on Node ${version}: Parley needs Node ${NODE_MIN.join('.')} or newer`);
}

function isComplete(lockText) {
  if (readOrNull(STAMP) === hashOf(lockText)) return true;
  if (!installedMatches(lockText)) return false;
  writeFileSync(STAMP, hashOf(lockText));
  return true;
}

function isInstalledToUse(lockText) {
  return readOrNull(STAMP) === `${hashOf(lockText)}${TO_USE}`;
}

function hashOf(text) {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * True when npm's own record of node_modules lists what the lock file asks for.
 * This is how an `npm ci` that was run by hand is recognised and not repeated.
 */
function installedMatches(lockText) {
  const text = readOrNull(path.join(ROOT, 'node_modules', '.package-lock.json'));
  if (text === null) return false;
  const wanted = JSON.parse(lockText).packages;
  const installed = JSON.parse(text).packages;
  const complete = Object.keys(wanted).every(
    (key) => key === '' || wanted[key].optional || wanted[key].peer || installed[key] !== undefined,
  );
  return complete && Object.keys(installed).every((key) => wanted[key]?.version === installed[key].version);
}

function install(lockText) {
  npmCi(ROOT);
  writeFileSync(STAMP, hashOf(lockText));
}

/** In a folder of its own, because npm goes by the package file where it works; then moved into place as one. */
function installToUse(lockText) {
  const aside = path.join(ROOT, 'dist', `.packages-${process.pid}`);
  const packages = path.join(ROOT, 'node_modules');
  try {
    mkdirSync(aside, { recursive: true });
    const { manifest, lock } = packagesToUse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'), lockText);
    writeFileSync(path.join(aside, 'package.json'), manifest);
    writeFileSync(path.join(aside, 'package-lock.json'), lock);
    npmCi(aside);
    rmSync(packages, { recursive: true, force: true });
    renameSync(path.join(aside, 'node_modules'), packages);
    writeFileSync(STAMP, `${hashOf(lockText)}${TO_USE}`);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

function npmCi(folder) {
  const startedAt = Date.now();
  process.stderr.write('parley: installing dependencies with npm ci …\n');
  const npm = process.env.npm_execpath;
  const [command, args] = npm === undefined ? ['npm', ['ci']] : [process.execPath, [npm, 'ci']];
  const result = spawnSync(command, [...args, '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (result.error !== undefined) fail(`Cannot install dependencies: ${result.error.message}`);
  if (result.status !== 0) {
    process.stderr.write(`${result.stdout}${result.stderr}`);
    fail(`Cannot install dependencies: npm ci ended with exit code ${result.status}`);
  }
  process.stderr.write(
    `parley: dependencies installed in ${Math.round((Date.now() - startedAt) / 1000)} s\n`,
  );
}

/** Null where it cannot be read. @type {(file: string) => string | null} */
export function readOrNull(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function fail(sentence) {
  process.stderr.write(`parley: ${sentence}\n`);
  process.exit(1);
}
