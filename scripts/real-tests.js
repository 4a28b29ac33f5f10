/**
 * Which files of tests start real programs, read off their imports: those are the project `real`.
 * Owns what counts as real; must not run anything. A helper or a part of the product that starts a program makes every
 * test that uses it real.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Packages and modules by which a program, a daemon, a browser or a server is reached. */
const MODULES = [
  'node:child_process',
  'node:cluster',
  '@temporalio/client',
  '@temporalio/testing',
  '@temporalio/worker',
  'dockerode',
  'pg',
  'playwright-core',
  'testcontainers',
];
/** Folders in which every import is followed. */
const OF_TESTS = ['examples', 'scripts', 'test', 'testing'];

/** Types are no imports, and what is imported late is none of a file that a test only reads from. */
const IMPORT = /^(?:import|export)\s(?!type\b)[^'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm;

/**
 * Every file of tests below `root` that starts real programs, as paths from there, sorted.
 * @type {(root: string) => string[]}
 */
export function realTests(root) {
  const known = new Map();
  return testFiles(root).filter((file) => isReal(root, file, known));
}

function testFiles(root) {
  return ['test', 'examples']
    .flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true }).map((file) => path.join(folder, file)),
    )
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => file.split(path.sep).join('/'))
    .sort();
}

function isReal(root, file, known) {
  const before = known.get(file);
  if (before !== undefined) return before;
  // A circle of imports is real only by something outside of it.
  known.set(file, false);
  const text = readFileSync(path.join(root, file), 'utf8');
  const answer = [...text.matchAll(IMPORT)].some(([, from, bare]) =>
    isRealImport(root, file, from ?? bare, known),
  );
  known.set(file, answer);
  return answer;
}

/** Of the product, imports are followed within one folder: how a part does its work, and not what it is wired to. */
function isRealImport(root, file, specifier, known) {
  if (!specifier.startsWith('.')) return MODULES.includes(specifier);
  const target = path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier));
  if (!OF_TESTS.includes(topFolder(file)) && topFolder(file) !== topFolder(target)) return false;
  return /\.[jt]sx?$/.test(target) && existsSync(path.join(root, target)) && isReal(root, target, known);
}

function topFolder(file) {
  return file.split('/')[0];
}
