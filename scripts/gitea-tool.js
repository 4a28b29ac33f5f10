/**
 * Installs Gitea, where it is missing, with Go and a C compiler for its SQLite: the tests of issues and pull requests talk to
 * it. It goes into the cache of the other tools, and is there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { copyModule } from './compose-tools.js';
import { isProgram, onPath } from './find-program.js';
import { withLock } from './lock.js';
import { runNetworkStep } from './run-quietly.js';
import { aside, toolsFolder } from './temporal-tools.js';

const GITEA_VERSION = 'v1.26.0';
const TITLE = 'Gitea';
/** What the program reads beside itself. Its pages are drawn without their scripts, which only npm would build. */
const STATIC_PARTS = ['options', 'public', 'templates'];
const C_COMPILERS = ['gcc', 'cc', 'clang'];

/** The program, and the folder of its templates and options; null when it was not built. */
export function installedGitea(env) {
  const folder = folderOf(env);
  const program = path.join(folder, 'gitea');
  return isProgram(program) ? { program, staticRoot: path.join(folder, 'static') } : null;
}

function folderOf(env) {
  return path.join(toolsFolder(env), `gitea-${GITEA_VERSION}`);
}

/** Installs it; resolves with a line that says how it went. */
export async function installGitea(env) {
  mkdirSync(toolsFolder(env), { recursive: true });
  return await withLock(path.join(toolsFolder(env), '.gitea.lock'), () => install(env));
}

async function install(env) {
  if (installedGitea(env) !== null) return { name: TITLE, ok: true, line: folderOf(env) };
  const go = onPath('go', env);
  if (go === null) return { name: TITLE, ok: false, line: 'go is not installed' };
  if (C_COMPILERS.every((name) => onPath(name, env) === null))
    return { name: TITLE, ok: false, line: 'no C compiler is installed' };
  return await aside(TITLE, folderOf(env), (work) => build(go, work, env));
}

/** Its module has replacements and so refuses to be installed by its name: it is built where it lies, as a copy. */
async function build(go, work, env) {
  const source = path.join(work, 'source');
  await copyModule(go, { module: `code.gitea.io/gitea@${GITEA_VERSION}`, target: source, env });
  const version = `-X main.Version=${GITEA_VERSION.slice(1)}`;
  const flags = ['-trimpath', '-tags', 'sqlite sqlite_unlock_notify', '-ldflags', `-s -w ${version}`];
  await runNetworkStep('go build of Gitea', go, ['build', ...flags, '-o', path.join(work, 'gitea'), '.'], {
    env: { ...env, CGO_ENABLED: '1' },
    cwd: source,
  });
  for (const part of STATIC_PARTS)
    cpSync(path.join(source, part), path.join(work, 'static', part), { recursive: true });
  rmSync(source, { recursive: true });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { name, ok, line } = await installGitea(process.env);
  process.stderr.write(`parley: ${ok ? name : `Cannot install ${name}`}: ${line}\n`);
  if (process.env.CI === 'true' && !ok) process.exitCode = 1;
}
