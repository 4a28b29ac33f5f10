/**
 * Installs what the tests against a real API server need, where it is missing: kube-apiserver and kwok, built by Go, and
 * etcd from the package of Debian. Everything goes into a cache outside the tree, and is there the next time.
 * Plain JavaScript without a dependency, as the other installers are; must not choose a registry. The first build of the
 * API server takes a quarter of an hour, so nothing asks for it unasked: `npm run k8s:local` does.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onPath } from './find-program.js';
import { runNetworkStep, runQuietly } from './run-quietly.js';
import { foldersOf, goInstall, installParts, runAsProgram } from './tool-cache.js';

/** Of the API server; its staging modules have the same number below 0. */
export const KUBERNETES_VERSION = '1.34.4';
const KWOK_VERSION = 'v0.7.0';

/** What is made: folder in the cache, programs in it, and how. */
const [ETCD, ...BUILT] = [
  { name: 'etcd-debian-1', programs: ['usr/bin/etcd'], needs: [], make: unpackEtcd },
  { name: `kwok-${KWOK_VERSION}`, programs: ['kwok'], make: buildKwok },
  {
    name: `kube-apiserver-${KUBERNETES_VERSION}`,
    programs: ['kube-apiserver'],
    make: (work, env) => buildKubernetes({ 'kube-apiserver': 'NewAPIServerCommand()' }, work, env),
  },
];

/** @typedef {Record<'etcd' | 'kwok' | 'apiServer', string>} KubernetesPrograms */

/**
 * Whole paths of all three programs; null when one of them is missing.
 * @type {(env: NodeJS.ProcessEnv) => KubernetesPrograms | null}
 */
export function installedKubernetes(env) {
  const [own, kwok, apiServer] = foldersOf([ETCD, ...BUILT], env);
  // Another version of the others would be another test.
  const etcd = own === null ? onPath('etcd', env) : path.join(own, 'usr', 'bin', 'etcd');
  if (etcd === null || kwok === null || apiServer === null) return null;
  return { etcd, kwok: path.join(kwok, 'kwok'), apiServer: path.join(apiServer, 'kube-apiserver') };
}

async function unpackEtcd(work, env) {
  for (const tool of ['apt-get', 'dpkg-deb'])
    if (onPath(tool, env) === null)
      throw new Error(`${tool} is not installed; put an etcd of 3.4 or newer on the path`);
  await unpackPackages(['etcd-server'], work, env);
}

/** Takes the programs out of packages of Debian: nothing is installed on the system, and no service starts. */
export async function unpackPackages(packages, work, env) {
  const args = ['download', ...packages];
  await runNetworkStep(`apt-get download ${packages.join(' ')}`, 'apt-get', args, { env, cwd: work });
  for (const file of readdirSync(work).filter((entry) => entry.endsWith('.deb'))) {
    await runQuietly('dpkg-deb', ['-x', path.join(work, file), work], { env });
    rmSync(path.join(work, file));
  }
}

async function buildKwok(work, env) {
  await goInstall(`sigs.k8s.io/kwok/cmd/kwok@${KWOK_VERSION}`, work, env);
}

/** A module of our own in which every part of Kubernetes has the version that belongs to it. */
function kubernetesModule(work, env) {
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

/** One build for all of the commands, each with its constructor: most of what they are made of is the same. */
export async function buildKubernetes(commands, work, env) {
  const source = path.join(work, 'source');
  mkdirSync(source);
  writeFileSync(path.join(source, 'go.mod'), kubernetesModule(source, env));
  for (const [name, constructor] of Object.entries(commands)) {
    mkdirSync(path.join(source, name));
    writeFileSync(path.join(source, name, 'main.go'), commandOf(name, constructor));
  }
  const version = `-X k8s.io/component-base/version.gitVersion=v${KUBERNETES_VERSION}`;
  const flags = ['-mod=mod', '-ldflags', `-s -w ${version}`, '-o', `${work}/`];
  await runNetworkStep('go build of kubernetes', 'go', ['build', ...flags, './...'], { env, cwd: source });
  rmSync(source, { recursive: true });
}

/** The command's own constructor: the module of Kubernetes itself refuses to be installed. */
function commandOf(name, constructor) {
  return `package main

import (
${constructor.includes('context.') ? '\t"context"\n' : ''}	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/${name}/app"
)

func main() {
	os.Exit(cli.Run(app.${constructor}))
}
`;
}

const install = (env) => installParts(onPath('etcd', env) === null ? [ETCD, ...BUILT] : BUILT, env);

await runAsProgram(import.meta.url, 'kubernetes', install, true);
