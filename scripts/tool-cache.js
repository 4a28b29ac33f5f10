/**
 * The cache of programs that tests and benches talk to for real, outside the tree: where it is, and how one comes into it.
 * Owns the lock of an installation, what is said of it, and that a folder is whole or not there.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isProgram, onPath } from './find-program.js';
import { withLock } from './lock.js';
import { runNetworkStep } from './run-quietly.js';

/**
 * How an installation went: `line` says where the tool is, how long it took, or why it could not be installed.
 * @typedef {{ readonly name: string, readonly ok: boolean, readonly line: string }} Installed
 */

/** The cache: programs that belong to no deployment. @param {NodeJS.ProcessEnv} env */
export function toolsFolder(env) {
  return env.PARLEY_TOOLS_DIR || path.join(homeOf(env), '.cache', 'parley-tools');
}

export function homeOf(env) {
  return env.HOME ?? os.homedir();
}

/**
 * On the path, or in a folder of the cache; null when it is neither.
 * @type {(folder: string, name: string, env: NodeJS.ProcessEnv) => string | null}
 */
export function programIn(folder, name, env) {
  const cached = path.join(folder, name);
  return onPath(name, env) ?? (isProgram(cached) ? cached : null);
}

/**
 * Fills a folder with what is not `there` yet, if the programs that it needs are on the path. It is filled beside and
 * renamed, so that what is there is whole.
 * @returns {Promise<Installed>}
 */
export async function installTool({ name, there, folder, needs = ['go'] }, env, fill) {
  if (there !== null) return { name, ok: true, line: there };
  const missing = needs.filter((tool) => onPath(tool, env) === null);
  if (missing.length > 0)
    return { name, ok: false, line: missing.map((tool) => `${tool} is not installed`).join(', ') };
  const startedAt = Date.now();
  const target = `${folder}.new`;
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  try {
    await fill(target);
    rmSync(folder, { recursive: true, force: true });
    renameSync(target, folder);
    return { name, ok: true, line: `installed in ${secondsSince(startedAt)} s` };
  } catch (error) {
    return { name, ok: false, line: error.message };
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

export function secondsSince(startedAt) {
  return Math.round((Date.now() - startedAt) / 1000);
}

const folderOf = ({ name }, env) => path.join(toolsFolder(env), name);
const isWhole = (part, env) =>
  part.programs.every((program) => isProgram(path.join(folderOf(part, env), program)));

/** Folders of parts, each with its programs; null in place of one that is not whole. */
export function foldersOf(parts, env) {
  return parts.map((part) => (isWhole(part, env) ? folderOf(part, env) : null));
}

/** Makes with Go the parts that are missing, one after the other; a line for each says how it went. */
export async function installParts(parts, env, settings = env) {
  const results = [];
  for (const part of parts) {
    const [there] = foldersOf([part], env);
    const tool = { name: part.name, there, folder: folderOf(part, env), needs: part.needs };
    results.push(await installTool(tool, env, (work) => part.make(work, settings)));
  }
  return results;
}

/** What Go installs by its name, into `target`. */
export async function goInstall(source, target, env, flags = []) {
  await runNetworkStep(`go install ${source}`, 'go', ['install', ...flags, source], {
    env: { ...env, GOBIN: target },
  });
}

/** Packages of npm with their exact versions, into a folder of their own. */
export async function npmInstall(packages, target, env) {
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages];
  await runNetworkStep(`npm install of ${packages.join(' and ')}`, 'npm', args, { env, cwd: target });
}

/** Jars of a `pom.xml` with all that they depend on, into `lib` of its folder. */
export async function mavenInstall(what, target, env) {
  const args = ['-q', '-B', '-ntp', 'dependency:copy-dependencies', '-DoutputDirectory=lib'];
  await runNetworkStep(`mvn of ${what}`, 'mvn', args, { env, cwd: target });
}

/** A module's file that names one jar; `inside` stands within its dependency. */
export function pomOf(name, { group, artifact, version, inside = '' }) {
  return `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>parley</groupId>
  <artifactId>${name}</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>${group}</groupId>
      <artifactId>${artifact}</artifactId>
      <version>${version}</version>${inside}
    </dependency>
  </dependencies>
</project>
`;
}

/**
 * The end of each installer: called as a program, it installs, under the lock of that name, and says how it went; `install`
 * resolves with an `Installed`, or with several. What cannot be had is a failure where `must` says so: in CI, or always
 * where nothing asks for it unasked.
 */
export async function runAsProgram(url, name, install, must = process.env.CI === 'true') {
  if (url !== pathToFileURL(process.argv[1] ?? '').href) return;
  const folder = toolsFolder(process.env);
  mkdirSync(folder, { recursive: true });
  const results = [await withLock(path.join(folder, `.${name}.lock`), () => install(process.env))].flat();
  for (const { name: tool, ok, line } of results)
    process.stderr.write(`parley: ${ok ? tool : `Cannot install ${tool}`}: ${line}\n`);
  if (must && results.some(({ ok }) => !ok)) process.exitCode = 1;
}
