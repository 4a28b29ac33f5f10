/**
 * Installs Gitea, where it is missing, with Go and a C compiler for its SQLite: the tests of issues and pull requests talk to
 * it. It goes into the cache of the other tools, and is there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { copyModule } from './compose-tools.js';
import { isProgram, onPath } from './find-program.js';
import { runNetworkStep } from './run-quietly.js';
import { installTool, runAsProgram, toolsFolder } from './tool-cache.js';

const GITEA_VERSION = 'v1.26.0';
/** What the program reads beside itself. Its pages are drawn without their scripts, which only npm would build. */
const STATIC_PARTS = ['options', 'public', 'templates'];
const C_COMPILERS = ['gcc', 'cc', 'clang'];

/**
 * The program, and the folder of its templates and options; null when it was not built.
 * @param {NodeJS.ProcessEnv} env
 */
export function installedGitea(env) {
  const folder = folderOf(env);
  const program = path.join(folder, 'gitea');
  return isProgram(program) ? { program, staticRoot: path.join(folder, 'static') } : null;
}

function folderOf(env) {
  return path.join(toolsFolder(env), `gitea-${GITEA_VERSION}`);
}

/** Its module has replacements and so refuses to be installed by its name: it is built where it lies, as a copy. */
async function build(work, env) {
  const source = path.join(work, 'source');
  await copyModule({ module: `code.gitea.io/gitea@${GITEA_VERSION}`, target: source, env });
  const version = `-X main.Version=${GITEA_VERSION.slice(1)}`;
  const flags = ['-trimpath', '-tags', 'sqlite sqlite_unlock_notify', '-ldflags', `-s -w ${version}`];
  await runNetworkStep('go build of Gitea', 'go', ['build', ...flags, '-o', path.join(work, 'gitea'), '.'], {
    env: { ...env, CGO_ENABLED: '1' },
    cwd: source,
  });
  for (const part of STATIC_PARTS)
    cpSync(path.join(source, part), path.join(work, 'static', part), { recursive: true });
  rmSync(source, { recursive: true });
}

await runAsProgram(import.meta.url, 'gitea', (env) => {
  const there = installedGitea(env)?.program ?? null;
  const compiler = C_COMPILERS.find((name) => onPath(name, env) !== null) ?? 'a C compiler';
  const tool = { name: 'Gitea', there, folder: folderOf(env), needs: ['go', compiler] };
  return installTool(tool, env, (work) => build(work, env));
});
