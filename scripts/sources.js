/**
 * Checks whether the built programs are as new as the sources.
 * Owns the list of folders a build reads and the stamp it leaves; must not build.
 * bin/parley.js runs this on every start: no dependency, nothing that is slow to load, few file operations.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';

/** Folders whose files end up in dist/. A folder that does not exist is skipped. */
const SOURCE_FOLDERS = [
  'core',
  'dsl',
  'ports',
  'store',
  'runtimes',
  'clients',
  'proxy',
  'simulator',
  'activities',
  'report',
  'telemetry',
  'engine',
  'workflows',
  'loopback',
  'temporal',
  'api',
  'host',
  'cli',
  'agent',
  'scripted-gateway',
  'testing',
  'web',
];
const SOURCE_FILES = [
  'package.json',
  'package-lock.json',
  'scripts/build.js',
  'scripts/build-web.js',
  'scripts/bundle.js',
  'scripts/keep-compiled.js',
  'scripts/sources.js',
];

/** Where a build says which files it saw: the text of `statSources`. */
export const STATS_FILE = 'dist/.build-stats';

/**
 * Path, size and time of every source, as one text: equal texts mean nothing was touched.
 * @type {(root: string) => string}
 */
export function statSources(root) {
  const lines = [];
  for (const folder of SOURCE_FOLDERS) walk(root, folder, lines);
  for (const file of SOURCE_FILES) lines.push(describe(root, file));
  return lines.join('\n');
}

/** Paths of all sources, in the order of `statSources`. @type {(root: string) => readonly string[]} */
export function listSources(root) {
  return statSources(root)
    .split('\n')
    .map((line) => line.slice(0, line.indexOf('\t')));
}

/** True when no source was touched since the last build. @type {(root: string) => boolean} */
export function isFresh(root) {
  try {
    return readFileSync(`${root}/${STATS_FILE}`, 'utf8') === statSources(root);
  } catch {
    return false;
  }
}

function walk(root, folder, lines) {
  let entries;
  try {
    entries = readdirSync(`${root}/${folder}`, { withFileTypes: true });
  } catch {
    return;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) walk(root, name, lines);
    else if (entry.isFile()) lines.push(describe(root, name));
  }
}

function describe(root, file) {
  const stats = statSync(`${root}/${file}`);
  return `${file}\t${stats.size}\t${stats.mtimeMs}`;
}
