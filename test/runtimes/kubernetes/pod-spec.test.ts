/**
 * What a pod of ours is made with, and the ways that lead from it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_LIMITS } from '../../../runtimes/on-host/limits.ts';
import { checkInstallation, podName, volumeName } from '../../../runtimes/kubernetes/names.ts';
import type { KubernetesRuntimeOptions } from '../../../runtimes/kubernetes/options.ts';
import { openGates, resolveRoutes } from '../../../runtimes/kubernetes/pod-routes.ts';
import { agentPod } from '../../../runtimes/kubernetes/pod-spec.ts';
import { launchScript, sessionSecret } from '../../../runtimes/kubernetes/session-secret.ts';
import { realClock } from '../../contract/real-clock.ts';
import { newId } from '../../contract/runtime-suite.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { nextAddress } from './fake-api/pod-addresses.ts';

const ROUTES = { proxy: '192.0.2.1:4100', webhook: '192.0.2.1:4101', git: '192.0.2.1:4102', egress: null };
const options: KubernetesRuntimeOptions = {
  kubeconfig: null,
  context: null,
  namespace: 'sandboxes',
  installation: 'parley',
  image: 'registry.test/sandbox@sha256:0',
  imagePullSecrets: ['registry'],
  storageClass: null,
  runtimeClass: 'own-kernel',
  programs: { agentServer: '/opt/a.cjs', sandboxInit: '/opt/i.cjs', workspaceReader: '/opt/r.cjs' },
  routes: ROUTES,
  gates: null,
  requests: { memoryBytes: 512 * 1024 ** 2, cpus: 0.25 },
  clock: realClock,
  warn: () => undefined,
};

describe('a pod of a sandbox', () => {
  const marks = { sandboxId: newId(), generation: 3, role: 'agent' } as const;
  const name = podName('parley', marks.sandboxId, 3);
  const limits = { ...DEFAULT_LIMITS, cpus: 0.1 };
  const pod = agentPod({ options, limits, marks, name, routes: ROUTES });

  it('has no account, no name server, no variables of the cluster, and is not started again', () => {
    expect(pod.spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: 'Never',
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['127.0.0.1'] },
      runtimeClassName: 'own-kernel',
      imagePullSecrets: [{ name: 'registry' }],
    });
  });

  it('is nobody, writes to its volume and to bounded memory, and has nothing of its node', () => {
    expect(pod.spec?.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10_001 });
    expect(pod.spec?.containers[0]?.securityContext).not.toHaveProperty('runAsUser');
    for (const container of [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]) {
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
    const kinds = pod.spec?.volumes?.map(({ name: volume, ...source }) => [volume, Object.keys(source)[0]]);
    expect(kinds).toEqual([
      ['sandbox', 'persistentVolumeClaim'],
      ...['tmp', 'run', 'home'].map((volume) => [volume, 'emptyDir']),
      ['guard', 'secret'],
    ]);
    for (const { emptyDir } of pod.spec?.volumes ?? []) {
      if (emptyDir === undefined) continue;
      expect(emptyDir.medium).toBe('Memory');
      expect(Number(emptyDir.sizeLimit)).toBeLessThanOrEqual((limits.memoryBytes ?? 0) / 4);
    }
  });

  it('begins as root with four rights where its server is to be another user than its tools', () => {
    const split = agentPod({
      options: { ...options, splitsTools: true },
      limits,
      marks,
      name,
      routes: ROUTES,
    });
    const [main] = split.spec?.containers ?? [];
    expect(main?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      privileged: false,
      runAsNonRoot: false,
      runAsUser: 0,
      runAsGroup: 0,
      capabilities: { drop: ['ALL'], add: ['SETUID', 'SETGID', 'KILL', 'SETPCAP'] },
    });
    expect(split.spec?.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10_001 });
    expect(main?.env).toContainEqual({ name: 'PARLEY_TOOLBOX_USER', value: '10001:10001' });
    // Where programs are sought is said by the image.
    expect(main?.env?.map(({ name }) => name)).not.toContain('PATH');
    const mounted = new Map(main?.volumeMounts?.map(({ mountPath, name: volume }) => [mountPath, volume]));
    expect(mounted.get('/run/parley/server')).toBe('run');
    expect(mounted.get('/run/parley/server/state')).toBe('sandbox');
    expect(mounted.has('/agent')).toBe(false);
  });

  it.each([
    ['the namespace admits nothing else', { splitsTools: true, podSecurity: 'restricted' }],
    ['its server cannot be split', { splitsTools: false, podSecurity: 'baseline' }],
  ] as const)('is as `restricted` admits it where %s', (_, given) => {
    expect(agentPod({ options: { ...options, ...given }, limits, marks, name, routes: ROUTES })).toEqual(pod);
  });

  it('asks for no more than it may have', () => {
    const resources = pod.spec?.containers[0]?.resources;
    expect(resources?.limits).toMatchObject({ memory: String(4_096 * 1024 ** 2), cpu: '100m' });
    expect(resources?.requests).toMatchObject({ memory: String(512 * 1024 ** 2), cpu: '100m' });
  });

  it('mounts the objects of its secret and never the key', () => {
    const secret = sessionSecret({ name, installation: 'parley', marks, key: 'the-key' });
    const mounted = pod.spec?.volumes?.find(({ name: volume }) => volume === 'guard')?.secret?.items;
    const objects = ['x86_64', 'aarch64'].flatMap((machine) => [
      `${machine}.node`,
      `${machine}.files-as.node`,
    ]);
    expect(mounted?.map(({ key }) => key)).toEqual(objects);
    expect(Object.keys(secret.data ?? {})).toEqual(['session-key', ...objects]);
    expect(JSON.stringify(pod)).not.toContain('the-key');
  });

  it('has names that a cluster takes, whatever the generation', () => {
    for (const generation of [1, 2_147_483_647]) {
      expect(podName('a-very-long-one1', marks.sandboxId, generation).length).toBeLessThanOrEqual(63);
    }
    expect(() => checkInstallation('Upper')).toThrow('not up to 16 lower-case letters');
    expect(() => volumeName('parley', '../x' as never)).toThrow('not 32 hex digits');
  });
});

describe('the script that starts a sandbox in a pod', () => {
  it.each(['/bin/sh', '/bin/bash'])(
    'hands the key over on a descriptor and in no environment: %s',
    (shell) => {
      const dir = tempDir();
      const init = path.join(dir, 'init.cjs');
      const told = path.join(dir, 'told');
      const poll = `const fs = require('fs');
      const limits = fs.readFileSync('/proc/self/limits', 'utf8');
      const environ = fs.readFileSync('/proc/self/environ', 'utf8');
      const key = fs.readFileSync(5, 'utf8');
      fs.writeFileSync(${JSON.stringify(told)}, JSON.stringify({ key, environ, limits, argv: process.argv.slice(2) }));`;
      writeFileSync(init, poll);
      const key = `it's $HOME \`x\` "quoted" \\`;
      const env = { PARLEY_POD_KEY: key, KUBERNETES_SERVICE_HOST: '10.0.0.1', KEPT: 'kept', HOME: dir };
      const args = ['-c', launchScript(1024 ** 3), process.execPath, init, '--one', 'two words'];
      const { status, stderr } = spawnSync(shell, args, { env, encoding: 'utf8', argv0: 'sh' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const seen = JSON.parse(readFileSync(told, 'utf8')) as Record<string, string>;
      expect(seen['key']).toBe(`${key}\n`);
      expect(seen['environ']).toContain('KEPT=kept');
      expect(seen['environ']).not.toMatch(/PARLEY_POD_KEY|KUBERNETES_/);
      expect(seen['argv']).toEqual(['--one', 'two words']);
      expect(seen['limits']).toMatch(/Max file size +1073741824 /);
      expect(seen['limits']).toMatch(/Max core file size +0 /);
    },
  );
});

describe('the ways from pods', () => {
  it('lead through ports of this process to its sockets, and a port that is taken is told', async () => {
    const dir = tempDir();
    const socket = (name: string): string => path.join(dir, `${name}.sock`);
    for (const name of ['proxy', 'webhook', 'git', 'egress']) {
      const server = createServer((connection) => connection.end(name));
      await new Promise<void>((resolve) => server.listen(socket(name), resolve));
      onTestFinished(() => void server.close());
    }
    const listen = nextAddress();
    const hostSockets = { proxy: socket('proxy'), webhook: socket('webhook'), git: socket('git') };
    const gates = { listen, hostSockets, egressSocket: socket('egress') };
    await openGates(gates);
    const answers = await Promise.all([4_100, 4_101, 4_102, 4_103].map((port) => read(listen, port)));
    expect(answers).toEqual(['proxy', 'webhook', 'git', 'egress']);
    await expect(openGates(gates)).rejects.toMatchObject({
      code: 'runtime_failed',
      remedy: 'end the other process that has it',
    });
  });

  it('are told to pods as addresses', async () => {
    const routes = { ...ROUTES, proxy: 'localhost:4100', egress: '[2001:db8::1]:4103' };
    const resolved = await resolveRoutes(routes);
    expect(resolved.proxy).toMatch(/^(127\.0\.0\.1|\[::1\]):4100$/);
    expect(resolved).toMatchObject({ webhook: '192.0.2.1:4101', egress: '[2001:db8::1]:4103' });
    await expect(resolveRoutes({ ...ROUTES, git: 'no-port' })).rejects.toMatchObject({
      code: 'runtime_failed',
    });
    await expect(resolveRoutes({ ...ROUTES, git: 'nowhere.invalid:1' })).rejects.toMatchObject({
      code: 'runtime_unreachable',
      remedy: expect.stringContaining('runtime.kubernetes.service'),
    });
  });
});

function read(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ host, port });
    socket.on('data', (chunk) => (text += String(chunk)));
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}
