/**
 * Makes a fresh clone able to run: the right Node, and the dependencies of package-lock.json in node_modules.
 * Plain JavaScript without a dependency, because it runs before anything is installed; must not build or start anything.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.js';

/** The folder of package.json; every script works from here, wherever it was called. */
export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** Oldest Node that runs every dependency; the same as `engines` in package.json. */
const NODE_MIN = [20, 19];

/** Says whose lock file the installed packages follow, so that the usual start costs one hash. */
const STAMP = path.join(ROOT, 'node_modules', '.parley-setup');

/**
 * Ensures Node and the dependencies; ends the process with a sentence when it cannot.
 * Installs once, however many processes call it at the same time.
 */
export function setup() {
  requireNode(process.versions.node);
  const lockText = readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8');
  if (isInstalled(lockText)) return;
  mkdirSync(path.join(ROOT, 'dist'), { recursive: true });
  withLock(path.join(ROOT, 'dist', '.setup.lock'), () => {
    if (!isInstalled(lockText)) install(lockText);
  });
}

/** Ends the process when `version` is older than Parley supports. */
function requireNode(version) {
  const [major, minor] = version.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  fail(`Cannot run on Node ${version}: Parley needs Node ${NODE_MIN.join('.')} or newer`);
}

function isInstalled(lockText) {
  const hash = createHash('sha256').update(lockText).digest('hex');
  if (readOrNull(STAMP) === hash) return true;
  if (!installedMatches(lockText)) return false;
  writeFileSync(STAMP, hash);
  return true;
}

/**
 * True when npm's own record of node_modules lists what the lock file asks for.
 * This is how an `npm ci` that somebody ran by hand is recognised and not repeated.
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
  const startedAt = Date.now();
  process.stderr.write('parley: installing dependencies with npm ci …\n');
  const npm = process.env.npm_execpath;
  const [command, args] = npm === undefined ? ['npm', ['ci']] : [process.execPath, [npm, 'ci']];
  const result = spawnSync(command, [...args, '--no-audit', '--no-fund'], {
    cwd: ROOT,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (result.error !== undefined) fail(`Cannot install dependencies: ${result.error.message}`);
  if (result.status !== 0) {
    process.stderr.write(`${result.stdout}${result.stderr}`);
    fail(`Cannot install dependencies: npm ci ended with exit code ${result.status}`);
  }
  writeFileSync(STAMP, createHash('sha256').update(lockText).digest('hex'));
  process.stderr.write(
    `parley: dependencies installed in ${Math.round((Date.now() - startedAt) / 1000)} s\n`,
  );
}

function readOrNull(file) {
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
