/**
 * A registry of the own network, with an authority of its own: programs of other authors reach it from inside
 * where the deployment names host and authority, and a refused program is reported outside with its sandbox.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeAuthorities } from '../../host/sandboxes/runtime-of.ts';
import { openToContainers } from '../../host/proxy/endpoints.ts';
import { createEgressProxy, type EgressProxy } from '../../runtimes/egress/egress-proxy.ts';
import { createDockerHarness } from '../contract/docker-harness.ts';
import { createProcessHarness } from '../contract/process-harness.ts';
import { runInside } from '../contract/runtime-inside.ts';
import { newRequest, type RuntimeHarness } from '../contract/runtime-suite.ts';
import { describeWith } from '../helpers/requires.ts';
import { removeDir } from '../helpers/temp-dir.ts';

const CONTAINER_MS_MAX = 600_000;

describeWith('openssl', 'a registry with an authority of its own', () => {
  let base: string;
  let egressSocket: string;
  let registry: Server;
  let port: number;
  let egress: EgressProxy;
  let authorities: string;
  const refused: string[] = [];

  beforeAll(async () => {
    base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'ca-')));
    const at = (name: string): string => path.join(base, name);
    const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
    const made = ['-newkey', 'rsa:2048', '-nodes', '-days', '2'];
    const authority = ['-x509', ...made, '-subj', '/CN=Own authority', '-addext', 'keyUsage=keyCertSign'];
    openssl('req', ...authority, '-keyout', at('ca.key'), '-out', at('ca.pem'));
    openssl('req', ...made, '-subj', '/CN=registry.test', '-keyout', at('tls.key'), '-out', at('tls.csr'));
    writeFileSync(at('names'), 'subjectAltName=DNS:registry.test\n');
    const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2'];
    openssl('x509', '-req', '-in', at('tls.csr'), ...signed, '-extfile', at('names'), '-out', at('tls.pem'));
    const named = readFileSync(at('ca.pem'), 'utf8');
    authorities = writeAuthorities(named, at('authorities.pem')) ?? '';
    const tls = { key: readFileSync(at('tls.key')), cert: readFileSync(at('tls.pem')) };
    registry = createServer(tls, (request, response) => response.end(`package ${request.url}\n`));
    await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
    port = (registry.address() as AddressInfo).port;
    mkdirSync(at('e'));
    egressSocket = path.join(at('e'), 'egress.sock');
    egress = createEgressProxy({
      socketPath: egressSocket,
      rules: [{ name: 'registry.test', below: false, port, mayBePrivate: true }],
      resolve: () => Promise.resolve(['127.0.0.1']),
      onRefused: (text) => refused.push(text),
      mayReach: (address) => address === '127.0.0.1',
    });
    await egress.listen();
    await openToContainers([egressSocket]);
  });
  afterAll(async () => {
    await egress.close();
    await new Promise((resolve) => registry.close(resolve));
    removeDir(base);
  });

  /** What each program says, by the commands of an agent inside. */
  async function saidInside(harness: RuntimeHarness, commands: readonly string[]) {
    const request = newRequest();
    try {
      const call = { address: await harness.runtime.start(request), sessionKey: request.sessionKey };
      const said: string[] = [];
      for (const command of commands) {
        const { stdout, stderr } = await runInside(call, command);
        said.push(`${stdout}${stderr}`.trim());
      }
      return { said, sandboxId: request.sandboxId };
    } finally {
      await harness.runtime.destroy(request.sandboxId);
      await harness.close();
    }
  }

  const curl = (): string => `curl -sS https://registry.test:${port}/curl 2>&1`;
  const python = (): string =>
    `python3 -c "import urllib.request as u; print(u.urlopen('https://registry.test:${port}/python').read().decode())" 2>&1`;
  // It requests a repository and gets a package: what it says of that is said after TLS has been trusted.
  const git = (): string => `git ls-remote https://registry.test:${port}/repo 2>&1`;

  /** Git is there where the tests are. */
  const strangers = (): readonly string[] => [git(), curl(), python()];

  describeWith('bwrap', 'from a namespace sandbox', () => {
    describeWith('curl', 'by programs of the host', () => {
      describeWith('python', 'Python among them', byStrangers);
    });
  });

  function byStrangers(): void {
    it('is reached by curl, Python and Git where host and authority are named', async () => {
      const harness = await createProcessHarness('namespaces', undefined, { egressSocket, authorities });
      const { said } = await saidInside(harness, strangers());
      expect(said).toEqual([
        expect.stringContaining('not valid: is this a git repository?'),
        'package /curl',
        'package /python',
      ]);
    });

    it('is trusted by none of them without', async () => {
      const harness = await createProcessHarness('namespaces', undefined, { egressSocket });
      const { said } = await saidInside(harness, strangers());
      for (const text of said) expect(text).toMatch(/certificate/i);
    });

    it('tells a refusal outside with the sandbox that asked, and inside with the rule', async () => {
      refused.length = 0;
      const harness = await createProcessHarness('namespaces', undefined, { egressSocket });
      const { said, sandboxId } = await saidInside(harness, ['curl -s http://other.test/', curl()]);
      expect(said[0]).toContain('runtime.egress.allow');
      expect(refused).toEqual([
        expect.stringContaining(`from sandbox "${sandboxId}": it is not on the allow-list`),
      ]);
    });
  }

  describeWith('dockerd', 'from a container', () => {
    it(
      'is reached where host and authority are named',
      async () => {
        const { said } = await saidInside(await createDockerHarness({ egressSocket, authorities }), [curl()]);
        expect(said).toEqual(['package /curl']);
      },
      CONTAINER_MS_MAX,
    );
  });
});
