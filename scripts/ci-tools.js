/**
 * Installs what reads workflow files of a CI, where it is missing: actionlint with Go, for GitHub Actions, and
 * gitlab-ci-local from npm, which holds GitLab's own schema. Tests let them read the files of examples/ci/. They go into
 * the cache outside the tree, and are there the next time.
 * Plain JavaScript without a dependency, because it runs beside the installation; must not choose a registry.
 */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { goInstall, installTool, npmInstall, programIn, runAsProgram, toolsFolder } from './tool-cache.js';

const ACTIONLINT_VERSION = 'v1.7.12';
const GITLAB_VERSION = '4.75.1';

/** Where actionlint is: on the path, or in the cache; null when it is neither. @param {NodeJS.ProcessEnv} env */
export function installedActionlint(env) {
  return programIn(actionlintFolder(env), 'actionlint', env);
}

/** The module of gitlab-ci-local that Node runs; null when it is not installed. @param {NodeJS.ProcessEnv} env */
export function installedGitlabCiLocal(env) {
  const program = path.join(gitlabFolder(env), 'node_modules', 'gitlab-ci-local', 'dist', 'index.js');
  return existsSync(program) ? program : null;
}

/** Null when both are installed, else the sentence that says what is missing. @param {NodeJS.ProcessEnv} env */
export function ciToolsMissing(env) {
  if (installedActionlint(env) === null) return 'actionlint is not installed';
  return installedGitlabCiLocal(env) === null ? 'gitlab-ci-local is not installed' : null;
}

const actionlintFolder = (env) => path.join(toolsFolder(env), `actionlint-${ACTIONLINT_VERSION}`);
const gitlabFolder = (env) => path.join(toolsFolder(env), `gitlab-ci-local-${GITLAB_VERSION}`);

async function installActionlint(env) {
  const tool = { name: 'actionlint', there: installedActionlint(env), folder: actionlintFolder(env) };
  return await installTool(tool, env, (target) =>
    goInstall(`github.com/rhysd/actionlint/cmd/actionlint@${ACTIONLINT_VERSION}`, target, env),
  );
}

async function installGitlabCiLocal(env) {
  const there = installedGitlabCiLocal(env);
  const tool = { name: 'gitlab-ci-local', there, folder: gitlabFolder(env), needs: [] };
  return await installTool(tool, env, async (target) => {
    writeFileSync(path.join(target, 'package.json'), '{ "private": true }\n');
    await npmInstall([`gitlab-ci-local@${GITLAB_VERSION}`], target, env);
  });
}

await runAsProgram(import.meta.url, 'ci-tools', (env) =>
  Promise.all([installActionlint(env), installGitlabCiLocal(env)]),
);
