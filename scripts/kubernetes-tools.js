/**
 * Installs what the tests against a real API server need, where it is missing: kube-apiserver and kwok, built by Go, and
 * etcd from the package of Debian. Everything goes into a cache outside the tree, and is there the next time.
 * Plain JavaScript without a dependency, as the other installers are; must not choose a registry. The first build of the
 * API server takes a quarter of an hour, so nothing asks for it unasked: `npm run k8s:local` does.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isProgram, onPath } from './find-program.js';
import { runNetworkStep, runQuietly } from './run-quietly.js';
import { goInstall, runAsProgram, secondsSince, toolsFolder, underLock } from './tool-cache.js';

/** Of the API server; its staging modules have the same number below 0. */
export const KUBERNETES_VERSION = '1.34.4';
const KWOK_VERSION = 'v0.7.0';

/** The API server's own command, from its constructor: the module of Kubernetes itself refuses to be installed. */
const MAIN = `package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
`;

/** Each program by name, with how it comes to be; a package of the system is as good for etcd. */
const PROGRAMS = [
  { name: 'etcd', make: unpackEtcd },
  { name: 'kwok', make: buildKwok },
  { name: 'kube-apiserver', make: buildApiServer },
];

function folderOf(env) {
  return path.join(toolsFolder(env), `kubernetes-${KUBERNETES_VERSION}-kwok-${KWOK_VERSION}`);
}

/** @typedef {Record<'etcd' | 'kwok' | 'apiServer', string>} KubernetesPrograms */

/**
 * Whole paths of all three programs; null when one of them is missing.
 * @type {(env: NodeJS.ProcessEnv) => KubernetesPrograms | null}
 */
export function installedKubernetes(env) {
  const [etcd, kwok, apiServer] = PROGRAMS.map(({ name }) => installed(name, env));
  if (!etcd || !kwok || !apiServer) return null;
  return { etcd, kwok, apiServer };
}

function installed(name, env) {
  const cached = path.join(folderOf(env), name);
  if (isProgram(cached)) return cached;
  // Another version of the others would be another test.
  return name === 'etcd' ? onPath(name, env) : null;
}

/**
 * Installs what is missing, one after the other; resolves with one line for each that says how it went.
 * @param {NodeJS.ProcessEnv} env
 */
export async function installKubernetes(env) {
  mkdirSync(folderOf(env), { recursive: true });
  return await underLock('kubernetes', env, async () => {
    const results = [];
    for (const program of PROGRAMS) results.push(await install(program, env));
    return results;
  });
}

async function install({ name, make }, env) {
  const there = installed(name, env);
  if (there !== null) return { name, ok: true, line: there };
  const startedAt = Date.now();
  // A build takes longer than a lock is held for.
  const work = path.join(folderOf(env), `${name}.new-${process.pid}`);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  try {
    renameSync(await make(work, env), path.join(folderOf(env), name));
    return { name, ok: true, line: `installed in ${secondsSince(startedAt)} s` };
  } catch (error) {
    return { name, ok: false, line: error.message };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Takes the program out of the package: nothing is installed on the system, and no service starts. */
async function unpackEtcd(work, env) {
  for (const tool of ['apt-get', 'dpkg-deb'])
    if (onPath(tool, env) === null)
      throw new Error(`${tool} is not installed; put an etcd of 3.4 or newer on the path`);
  await runNetworkStep('apt-get download etcd-server', 'apt-get', ['download', 'etcd-server'], {
    env,
    cwd: work,
  });
  const [file] = readdirSync(work).filter((entry) => entry.endsWith('.deb'));
  await runQuietly('dpkg-deb', ['-x', path.join(work, file), path.join(work, 'files')], { env });
  return path.join(work, 'files', 'usr', 'bin', 'etcd');
}

async function buildKwok(work, env) {
  needGo(env);
  await goInstall(`sigs.k8s.io/kwok/cmd/kwok@${KWOK_VERSION}`, work, env);
  return path.join(work, 'kwok');
}

/** A module of our own in which every part of Kubernetes has the version that belongs to it. */
export function kubernetesModule(work, env) {
  const look = ['list', '-m', '-json', `k8s.io/kubernetes@v${KUBERNETES_VERSION}`];
  const { GoMod } = JSON.parse(execFileSync('go', look, { env, cwd: work, encoding: 'utf8' }));
  const staging = `v0.${KUBERNETES_VERSION.split('.').slice(1).join('.')}`;
  // Parts that live in the same tree have no version there.
  const parts = [...readFileSync(GoMod, 'utf8').matchAll(/^\s*(k8s\.io\/[a-z0-9-]+) v0\.0\.0$/gm)];
  const module = [
    'module parley.dev/kubernetes',
    'go 1.24.0',
    `require k8s.io/kubernetes v${KUBERNETES_VERSION}`,
    `require k8s.io/component-base ${staging}`,
    ...parts.map(([, part]) => `replace ${part} => ${part} ${staging}`),
  ];
  return `${module.join('\n')}\n`;
}

async function buildApiServer(work, env) {
  needGo(env);
  writeFileSync(path.join(work, 'go.mod'), kubernetesModule(work, env));
  writeFileSync(path.join(work, 'main.go'), MAIN);
  const version = `-X k8s.io/component-base/version.gitVersion=v${KUBERNETES_VERSION}`;
  const flags = ['-mod=mod', '-ldflags', `-s -w ${version}`];
  await runNetworkStep('go build of kube-apiserver', 'go', ['build', ...flags, '-o', 'kube-apiserver', '.'], {
    env,
    cwd: work,
  });
  return path.join(work, 'kube-apiserver');
}

function needGo(env) {
  if (onPath('go', env) === null) throw new Error('go is not installed');
}

await runAsProgram(import.meta.url, installKubernetes, true);
