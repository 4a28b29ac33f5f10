/**
 * What the images of chart/images/ are made of, as trees of files: the built programs, and of the installed packages
 * those that run, for this platform. A recipe calls it in its first stage: `node scripts/image-files.js TARGET` writes
 * TARGET/parley and TARGET/sandbox, and with `--origin "COMMIT INSTANT"` into the first of them what it was made of.
 * Owns what is left out, and that times and rights are the same on every machine that builds; must not install or build.
 */
import {
  chmodSync,
  cpSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ROOT } from './setup.js';

/** Where an image has the programs. */
const HOME = 'opt/parley';
/** Peers that nothing of an image runs: they are for tests. */
const NOT_RUN = ['@temporalio/testing'];
/** Declarations, maps and sources of packages; no program loads them. */
const NOT_LOADED = /\.(?:[cm]?ts|map|flow)$/;
/** Native code of packages, by what their folder is called for each platform. */
const PREBUILT = 'node_modules/@temporalio/core-bridge/releases';
const NOT_RUN_FOLDERS = ['node_modules/@temporalio/core-bridge/sdk-core'];
/** Of dist/: stamps of builds, and what only a checkout or a package of npm needs. */
const NOT_SHIPPED = /^(?:\..*|run|test|types|release|testing.*|time-skipping.*)$|\.lock$/;
/** Programs of a sandbox, beside which the image has the folders that a container mounts something on. */
const SANDBOX_PROGRAMS = [
  'agent-server.cjs',
  'agent-server.cjs.compiled',
  'agent-openhands.cjs',
  'sandbox-init.cjs',
  'workspace-reader.cjs',
];
const SANDBOX_FOLDERS = ['workspace', 'agent', 'home/agent', 'run/parley/agent', 'opt/parley-guard'];
const COMMAND = '#!/bin/sh\nexec node /opt/parley/dist/parley.js "$@"\n';

/** Writes both trees below `target`, which is made. @type {(target: string, root?: string) => void} */
export function writeImageFiles(target, root = ROOT) {
  rmSync(target, { recursive: true, force: true });
  writeParley(root, path.join(target, 'parley'));
  writeSandbox(root, path.join(target, 'sandbox'));
  settle(target);
}

/**
 * What `parley --version` says in the image; `origin` is a commit and its instant, or empty where it is unknown.
 * @type {(target: string, origin: string, root?: string) => void}
 */
export function writeOrigin(target, origin, root = ROOT) {
  const [commit = null, date = null] = origin.split(' ').filter(Boolean);
  const { hash: build } = JSON.parse(readFileSync(path.join(root, 'dist', '.build.json'), 'utf8'));
  const dist = path.join(target, 'parley', HOME, 'dist');
  const release = { commit, date, isChanged: false, build };
  writeFileSync(path.join(dist, 'release.json'), `${JSON.stringify(release)}\n`);
  settle(dist);
}

function writeParley(root, image) {
  const home = path.join(image, HOME);
  mkdirSync(home, { recursive: true });
  for (const part of ['package.json', 'schema'])
    cpSync(path.join(root, part), path.join(home, part), { recursive: true });
  const dist = path.join(root, 'dist');
  for (const name of readdirSync(dist).filter((entry) => !NOT_SHIPPED.test(entry)))
    cpSync(path.join(dist, name), path.join(home, 'dist', name), { recursive: true });
  for (const folder of runtimePackages(root)) copyPackage(root, folder, home);
  mkdirSync(path.join(image, 'usr/local/bin'), { recursive: true });
  writeFileSync(path.join(image, 'usr/local/bin/parley'), COMMAND, { mode: 0o755 });
}

/**
 * Folders below `root` of the packages that the programs load: what package.json depends on, optional peers included,
 * with all that those depend on, as the lock file has them.
 * @type {(root: string) => readonly string[]}
 */
export function runtimePackages(root) {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const { dependencies, peerDependencies } = packages[''];
  const names = Object.keys({ ...dependencies, ...peerDependencies });
  const found = new Set();
  const visit = (folder) => {
    if (folder === null || found.has(folder)) return;
    found.add(folder);
    const { dependencies: needs, optionalDependencies: wants } = packages[folder];
    for (const name of Object.keys({ ...needs, ...wants })) visit(located(packages, folder, name));
  };
  for (const name of names.filter((one) => !NOT_RUN.includes(one))) visit(located(packages, '', name));
  return [...found].filter((folder) => isInstalled(path.join(root, folder))).sort();
}

/** Where Node.js finds a package from within another one; null when it is not among the installed. */
function located(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (folder === '') return null;
  }
}

/** What is for other platforms is in the lock file and not on the disk. */
function isInstalled(folder) {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Without what is nested in it, which has been looked for by itself. */
function copyPackage(root, folder, home) {
  const from = path.join(root, folder);
  if (/-musl$/.test(folder) && !isMusl()) return;
  cpSync(from, path.join(home, folder), {
    recursive: true,
    filter: (file) => {
      const at = path.relative(root, file);
      if (at.startsWith(`${folder}/node_modules`) || NOT_RUN_FOLDERS.includes(at)) return false;
      if (path.dirname(at) === PREBUILT) return path.basename(at) === releaseOfHere();
      return !NOT_LOADED.test(at);
    },
  });
}

function releaseOfHere() {
  const [maker, system] = process.platform === 'darwin' ? ['apple', 'darwin'] : ['unknown', 'linux-gnu'];
  return `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-${maker}-${system}`;
}

function isMusl() {
  return process.report.getReport().header.glibcVersionRuntime === undefined;
}

function writeSandbox(root, image) {
  const home = path.join(image, HOME);
  mkdirSync(home, { recursive: true });
  for (const name of SANDBOX_PROGRAMS) cpSync(path.join(root, 'dist', name), path.join(home, name));
  for (const folder of SANDBOX_FOLDERS) mkdirSync(path.join(image, folder), { recursive: true });
}

/** Read by all, changed by none, and as old as the sources say: an image does not say when it was built. */
function settle(folder) {
  const at = Number(process.env.SOURCE_DATE_EPOCH ?? 0);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) settle(file);
    else if (entry.isFile()) chmodSync(file, (statSync(file).mode & 0o111) === 0 ? 0o644 : 0o755);
    lutimesSync(file, at, at);
  }
  chmodSync(folder, 0o755);
  lutimesSync(folder, at, at);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values, positionals } = parseArgs({
    options: { origin: { type: 'string' } },
    allowPositionals: true,
  });
  const [target] = positionals;
  if (target === undefined) {
    process.stderr.write('Cannot write the files of the images: no folder is named\n');
    process.exit(2);
  }
  if (values.origin === undefined) writeImageFiles(path.resolve(target));
  else writeOrigin(path.resolve(target), values.origin);
}
