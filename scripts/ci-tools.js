/**
 * Installs what reads workflow files of a CI, where it is missing: actionlint with Go, for GitHub Actions, and
 * gitlab-ci-local from npm, which holds GitLab's own schema. Tests let them read the files of examples/ci/. They go into
 * the cache outside the tree, and are there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isProgram, onPath } from './find-program.js';
import { withLock } from './lock.js';
import { runNetworkStep } from './run-quietly.js';
import { aside, toolsFolder } from './temporal-tools.js';

const ACTIONLINT_VERSION = 'v1.7.12';
const GITLAB_VERSION = '4.75.1';

/** Where actionlint is: on the path, or in the cache; null when it is neither. */
export function installedActionlint(env) {
  const cached = path.join(actionlintFolder(env), 'actionlint');
  return onPath('actionlint', env) ?? (isProgram(cached) ? cached : null);
}

/** The module of gitlab-ci-local that Node runs; null when it is not installed. */
export function installedGitlabCiLocal(env) {
  const program = path.join(gitlabFolder(env), 'node_modules', 'gitlab-ci-local', 'dist', 'index.js');
  return existsSync(program) ? program : null;
}

/** Null when both are installed, else the sentence that says what is missing. */
export function ciToolsMissing(env) {
  if (installedActionlint(env) === null) return 'actionlint is not installed';
  return installedGitlabCiLocal(env) === null ? 'gitlab-ci-local is not installed' : null;
}

/** Installs both; resolves with one line for each that says how it went. */
export async function installCiTools(env) {
  mkdirSync(toolsFolder(env), { recursive: true });
  const lock = path.join(toolsFolder(env), '.ci-tools.lock');
  return await withLock(lock, () => Promise.all([installActionlint(env), installGitlabCiLocal(env)]));
}

const actionlintFolder = (env) => path.join(toolsFolder(env), `actionlint-${ACTIONLINT_VERSION}`);
const gitlabFolder = (env) => path.join(toolsFolder(env), `gitlab-ci-local-${GITLAB_VERSION}`);

async function installActionlint(env) {
  const name = 'actionlint';
  const there = installedActionlint(env);
  if (there !== null) return { name, ok: true, line: there };
  const go = onPath('go', env);
  if (go === null) return { name, ok: false, line: 'go is not installed' };
  return await aside(name, actionlintFolder(env), async (target) => {
    const source = `github.com/rhysd/actionlint/cmd/actionlint@${ACTIONLINT_VERSION}`;
    await runNetworkStep(`go install ${source}`, go, ['install', source], { env: { ...env, GOBIN: target } });
  });
}

async function installGitlabCiLocal(env) {
  const name = 'gitlab-ci-local';
  const there = installedGitlabCiLocal(env);
  if (there !== null) return { name, ok: true, line: there };
  return await aside(name, gitlabFolder(env), async (target) => {
    writeFileSync(path.join(target, 'package.json'), '{ "private": true }\n');
    const wanted = `gitlab-ci-local@${GITLAB_VERSION}`;
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', wanted];
    await runNetworkStep(`npm install of ${wanted}`, 'npm', args, { env, cwd: target });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const results = await installCiTools(process.env);
  for (const { name, ok, line } of results) {
    process.stderr.write(`parley: ${ok ? name : `Cannot install ${name}`}: ${line}\n`);
  }
  if (process.env.CI === 'true' && results.some(({ ok }) => !ok)) process.exitCode = 1;
}
