/**
 * Installs what a whole Kubernetes on this machine is made of, where it is missing: its programs and the network
 * policies, the name server and the first process of a pod built by Go, and etcd, network plug-ins and ipset from the
 * packages of Debian. Everything goes into the cache of the other tools, and is there the next time.
 * Plain JavaScript without a dependency, as the other installers are; must not choose a registry. The first build takes
 * many minutes, so nothing asks for it unasked: `npm run cluster:local` does. containerd and runc are the system's.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onPath } from './find-program.js';
import { buildKubernetes, KUBERNETES_VERSION, unpackPackages } from './kubernetes-tools.js';
import { runNetworkStep, runQuietly } from './run-quietly.js';
import { foldersOf, goInstall, installParts, runAsProgram } from './tool-cache.js';

const COREDNS = 'github.com/coredns/coredns';
const COREDNS_VERSION = 'v1.12.4';
const ROUTER = 'github.com/cloudnativelabs/kube-router/v2';
const ROUTER_VERSION = 'v2.1.0';

/** Each command by name, with its package and constructor below k8s.io/kubernetes/cmd. */
const COMMANDS = {
  'kube-apiserver': 'NewAPIServerCommand()',
  'kube-controller-manager': 'NewControllerManagerCommand()',
  'kube-scheduler': 'NewSchedulerCommand()',
  'kube-proxy': 'NewProxyCommand()',
  kubelet: 'NewKubeletCommand(context.Background())',
};

/** What holds a pod's name spaces open; it ends what is left to it. */
const PAUSE = `package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for told := range signals {
		if told != syscall.SIGCHLD {
			return
		}
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}
`;

/** The name server with no more than a cluster asks of it. */
const NAMES = `package main

import (
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"

	"github.com/coredns/coredns/coremain"
)

func main() {
	coremain.Run()
}
`;

/** What is made: folder in the cache, programs in it, and how. */
const PARTS = [
  { name: 'pause-1', programs: ['pause'], make: buildPause },
  {
    name: 'cluster-debian-1',
    programs: ['usr/bin/etcd', 'usr/lib/cni/bridge', 'usr/lib/cni/portmap', 'usr/sbin/ipset'],
    make: (work, env) => unpackPackages(PACKAGES, work, env),
  },
  {
    name: `cluster-kubernetes-${KUBERNETES_VERSION}`,
    programs: Object.keys(COMMANDS),
    make: (work, env) => buildKubernetes(COMMANDS, work, env),
  },
  { name: `kube-router-${ROUTER_VERSION}`, programs: ['kube-router'], make: buildRouter },
  { name: `coredns-${COREDNS_VERSION}`, programs: ['coredns'], make: buildNames },
];

const PACKAGES = ['etcd-server', 'containernetworking-plugins', 'ipset', 'libipset13'];
/** Of the system, with its package: they run beside a Docker of it, too. */
const SYSTEM = ['containerd', 'containerd-shim-runc-v2', 'ctr', 'runc', 'iptables', 'kubectl'];

/** The first program of a pod, and folders of the rest. @typedef {Record<'pause' | 'debian' | 'kubernetes' | 'router' | 'names', string>} ClusterParts */

/** Folders of the parts; null when one of them is missing. @type {(env: NodeJS.ProcessEnv) => ClusterParts | null} */
export function installedCluster(env) {
  const folders = foldersOf(PARTS, env);
  if (folders.includes(null)) return null;
  const [pause, debian, kubernetes, router, names] = folders;
  return { pause: path.join(pause, 'pause'), debian, kubernetes, router, names };
}

/** Why no cluster can start here, as a sentence; null when one can. @param {NodeJS.ProcessEnv} env */
export function clusterMissing(env) {
  if (process.platform !== 'linux') return 'a cluster starts on Linux only';
  if (process.getuid() !== 0) return 'only root can start a cluster';
  const absent = SYSTEM.filter((program) => onPath(program, env) === null);
  if (absent.length > 0) return `${absent.join(', ')} not installed`;
  return installedCluster(env) === null
    ? 'the programs of a cluster were not built here; "npm run cluster:local" builds them'
    : null;
}

async function buildPause(work, env) {
  const source = path.join(work, 'source');
  mkdirSync(source);
  writeFileSync(path.join(source, 'main.go'), PAUSE);
  const args = ['build', '-ldflags', '-s -w', '-o', path.join(work, 'pause'), 'main.go'];
  await runQuietly('go', args, { env, cwd: source });
  rmSync(source, { recursive: true });
}

async function buildRouter(work, env) {
  await goInstall(`${ROUTER}/cmd/kube-router@${ROUTER_VERSION}`, work, env, ['-ldflags', '-s -w']);
}

async function buildNames(work, env) {
  const source = path.join(work, 'source');
  mkdirSync(source);
  const module = ['module parley.dev/names', 'go 1.24.0', `require ${COREDNS} ${COREDNS_VERSION}`];
  writeFileSync(path.join(source, 'go.mod'), `${module.join('\n')}\n`);
  writeFileSync(path.join(source, 'main.go'), NAMES);
  const flags = ['-mod=mod', '-ldflags', '-s -w', '-o', path.join(work, 'coredns')];
  await runNetworkStep('go build of coredns', 'go', ['build', ...flags, '.'], { env, cwd: source });
  rmSync(source, { recursive: true });
}

const install = (env) => installParts(PARTS, env, { ...env, CGO_ENABLED: '0' });

await runAsProgram(import.meta.url, 'cluster', install, true);
