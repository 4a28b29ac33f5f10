/**
 * The way out of sandboxes: what the allow-list lets through, what an address forbids, and both from inside
 * sandboxes of both kinds. Hosts are stand-ins on loopback.
 */
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openToContainers } from '../../host/proxy/endpoints.ts';
import { isPrivateAddress, isPublicAddress } from '../../runtimes/egress/address-rules.ts';
import { createEgressProxy } from '../../runtimes/egress/egress-proxy.ts';
import type { EgressProxy } from '../../runtimes/egress/egress-proxy.ts';
import { allowsHost, parseHostAndPort, parseHostRule } from '../../runtimes/egress/host-rules.ts';
import type { HostRule } from '../../runtimes/egress/host-rules.ts';
import { createDockerHarness } from '../contract/docker-harness.ts';
import { createProcessHarness } from '../contract/process-harness.ts';
import { runInside } from '../contract/runtime-inside.ts';
import { newRequest } from '../contract/runtime-suite.ts';
import type { RuntimeHarness } from '../contract/runtime-suite.ts';
import { describeWith } from '../helpers/requires.ts';
import { removeDir } from '../helpers/temp-dir.ts';

/** A container, and the image the first time. */
const CONTAINER_MS_MAX = 600_000;

const rulesOf = (...texts: readonly string[]): readonly HostRule[] =>
  texts.map((text) => {
    const rule = parseHostRule(text);
    if (rule === null) throw new Error(`no rule: ${text}`);
    return rule;
  });

describe('host rules', () => {
  it.each([
    ['example.org', 'example.org', 443, true],
    ['example.org', 'EXAMPLE.org.', 80, true],
    ['example.org', 'example.org', 22, false],
    ['example.org', 'www.example.org', 443, false],
    ['example.org', 'badexample.org', 443, false],
    ['example.org', 'example.org.evil.test', 443, false],
    ['*.example.org', 'a.b.example.org', 443, true],
    ['*.example.org', 'example.org', 443, false],
    ['*.example.org', 'badexample.org', 443, false],
    ['example.org:8443', 'example.org', 8443, true],
    ['example.org:8443', 'example.org', 443, false],
  ])('%s against %s:%d is %s', (rule, host, port, allowed) => {
    expect(allowsHost(rulesOf(rule), { host, port })).toBe(allowed);
  });

  it.each([
    '',
    '*',
    '*.',
    'a b',
    'http://example.org',
    'example.org/x',
    'example.org:0',
    'example.org:99999',
    '-a.org',
  ])('takes "%s" for no rule', (text) => expect(parseHostRule(text)).toBeNull());

  it.each(['example.org', ':443', 'user@example.org:443', 'a:b:443', 'example.org:0', '[::1:443'])(
    'takes "%s" for no target',
    (text) => expect(parseHostAndPort(text)).toBeNull(),
  );
});

describe('isPublicAddress()', () => {
  it.each(['1.1.1.1', '93.184.216.34', '2606:4700::1111', '2a00:1450::1'])('lets %s through', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );
  it.each([
    ...['127.0.0.1', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.0.1', '169.254.169.254'],
    ...[
      '100.64.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '198.18.0.1',
      '::1',
      '::',
      'fe80::1',
      'fc00::1',
      'fd00:ec2::254',
    ],
    ...[
      '::ffff:127.0.0.1',
      '::ffff:169.254.169.254',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      'ff02::1',
      '2001:db8::1',
    ],
    ...['localhost', '', '1.2.3', '0x7f000001'],
  ])('holds %s back', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('hosts of the own network', () => {
  it.each([
    ['10.1.2.3', true],
    ['172.31.0.1', true],
    ['192.168.0.1', true],
    ['fd12::1', true],
    ['127.0.0.1', false],
    ['169.254.169.254', false],
    ['100.100.100.200', false],
    ['fd00:ec2::254', false],
    ['::1', false],
    ['1.1.1.1', false],
    ['localhost', false],
  ])('%s is opened by "private": %s', (address, is) => expect(isPrivateAddress(address)).toBe(is));

  it('are named with the word, which is no part of the name', () => {
    expect(parseHostRule('private *.corp.test:8443')).toEqual({
      name: 'corp.test',
      below: true,
      port: 8443,
      mayBePrivate: true,
    });
    expect(parseHostRule('private')).toEqual({ name: 'private', below: false, port: null });
    expect(parseHostRule('private private a.test')).toBeNull();
  });
});

describe('the egress proxy', () => {
  /** The directory of the socket is bound into sandboxes; the one above it belongs to no other user. */
  let base: string;
  let dir: string;
  let web: Server;
  let port: number;
  let proxy: EgressProxy;
  const refused: string[] = [];
  const names: Readonly<Record<string, readonly string[]>> = {
    'allowed.test': ['127.0.0.1'],
    'inside.test': ['10.0.0.1'],
    'metadata.test': ['169.254.169.254'],
    'mixed.test': ['127.0.0.1', '169.254.169.254'],
    'dead.test': ['127.0.0.2'],
  };
  const lookups: string[] = [];

  beforeEach(async () => {
    base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'eg-')));
    dir = path.join(base, 'e');
    mkdirSync(dir);
    web = createServer((request, response) => {
      // What HTTP does not know, and no library says.
      if (request.url === '/odd') return void request.socket.end('HTTP/1.1 042 Odd\r\n\r\n');
      response.end(
        `${request.method} ${request.url} ${request.headers.host} ${request.headers['proxy-authorization']}`,
      );
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    port = (web.address() as AddressInfo).port;
    refused.length = 0;
    lookups.length = 0;
    await open((address) => address === '127.0.0.1');
  });
  afterEach(async () => {
    await proxy.close();
    await new Promise((resolve) => web.close(resolve));
    removeDir(base);
  });

  const open = async (mayReach?: (address: string) => boolean, word = ''): Promise<void> => {
    const hosts = [...Object.keys(names), '127.0.0.1', 'nowhere.test'].map(
      (name) => `${word}${name}:${port}`,
    );
    proxy = createEgressProxy({
      socketPath: path.join(dir, 'e', '..', 'egress.sock'),
      rules: rulesOf(...hosts),
      resolve: (host) => {
        lookups.push(host);
        return Promise.resolve(names[host] ?? []);
      },
      onRefused: (text) => refused.push(text),
      ...(mayReach === undefined ? {} : { mayReach }),
    });
    await proxy.listen();
  };

  /** Status of the CONNECT, and what a request through the tunnel got. */
  const connectThrough = (target: string): Promise<{ readonly status: number; readonly text: string }> =>
    new Promise((resolve, reject) => {
      const ask = httpRequest({ socketPath: path.join(dir, 'egress.sock'), method: 'CONNECT', path: target });
      ask.on('connect', (answer, socket, head) => {
        let text = head.toString();
        socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
        socket.on('close', () => resolve({ status: answer.statusCode ?? 0, text }));
        if (answer.statusCode === 200)
          socket.write('GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
      });
      ask.on('error', reject);
      ask.end();
    });

  const plain = (address: string): Promise<{ readonly status: number; readonly text: string }> =>
    new Promise((resolve, reject) => {
      const headers = { host: new URL(address).host, 'proxy-authorization': 'Basic eA==' };
      const ask = httpRequest(
        { socketPath: path.join(dir, 'egress.sock'), path: address, headers },
        (answer) => {
          let text = '';
          answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
        },
      );
      ask.on('error', reject);
      ask.end();
    });

  it('opens a tunnel to a host on the list, and resolves its name once', async () => {
    const { status, text } = await connectThrough(`allowed.test:${port}`);
    expect({ status, got: text.split('\r\n\r\n')[1] }).toEqual({
      status: 200,
      got: expect.stringContaining('GET /x h'),
    });
    expect(lookups).toEqual(['allowed.test']);
  });

  it('replaces an answer that is none, and goes on', async () => {
    const odd = await plain(`http://allowed.test:${port}/odd`);
    expect(odd).toMatchObject({ status: 502, text: expect.stringContaining('status') });
    expect((await plain(`http://allowed.test:${port}/even`)).status).toBe(200);
  });

  it('passes plain HTTP on, without what is meant for the proxy', async () => {
    expect(await plain(`http://allowed.test:${port}/path?q=1`)).toEqual({
      status: 200,
      text: `GET /path?q=1 allowed.test:${port} undefined`,
    });
  });

  it.each([
    ['a host that is not on the list', 'other.test', 403, 'allow-list'],
    ['a name that leads to a private address', 'inside.test', 403, 'not on the Internet'],
    ['a name of which one address is private', 'mixed.test', 403, 'not on the Internet'],
    ['a name without an address', 'nowhere.test', 502, 'no address'],
  ])('refuses %s', async (_, host, status, why) => {
    expect((await connectThrough(`${host}:${port}`)).status).toBe(status);
    expect((await plain(`http://${host}:${port}/`)).text).toContain(why);
    expect(refused).toHaveLength(2);
  });

  it('asks no name server about a host that is not on the list', async () => {
    await connectThrough(`other.test:${port}`);
    expect(lookups).toEqual([]);
  });

  it('refuses another port, and a target that is none', async () => {
    expect((await connectThrough('allowed.test:1')).status).toBe(403);
    expect((await connectThrough('nonsense')).status).toBe(400);
  });

  it('holds loopback back although its name is of the own network', async () => {
    await proxy.close();
    await open(undefined, 'private ');
    expect((await connectThrough(`allowed.test:${port}`)).status).toBe(403);
    expect(refused.at(-1)).toContain('"private HOST" of "runtime.egress.allow"');
  });

  it('holds loopback back by default, by name and by number', async () => {
    await proxy.close();
    await open();
    expect((await connectThrough(`allowed.test:${port}`)).status).toBe(403);
    expect((await connectThrough(`127.0.0.1:${port}`)).status).toBe(403);
  });

  /** Status of a plain request and of a CONNECT through the proxy that the usual variables of a sandbox name. */
  const askBy = (target: string): string =>
    `node -e "const http=require('http'),plain=new URL(process.env.HTTP_PROXY),tunnel=new URL(process.env.HTTPS_PROXY);` +
    `http.get({host:plain.hostname,port:plain.port,path:'http://${target}/'},r=>{r.resume();` +
    `http.request({host:tunnel.hostname,port:tunnel.port,method:'CONNECT',path:'${target}'})` +
    `.on('connect',(c,s)=>{s.destroy();console.log(r.statusCode,c.statusCode)}).end()})"`;

  /** Prints the code of the error that a connection past the proxy ends with. */
  const pastIt = (to: string): string =>
    `node -e "require('net').connect(${to}).on('connect',()=>{console.log('REACHED');process.exit()}).on('error',e=>console.log(e.code))"`;

  const expectOneWayOut = async (harness: RuntimeHarness): Promise<void> => {
    const { runtime } = harness;
    expect(runtime.capabilities.egress).toBe('allow_list');
    const request = newRequest();
    const call = { address: await runtime.start(request), sessionKey: request.sessionKey };
    const inside = async (command: string): Promise<string> => (await runInside(call, command)).stdout.trim();
    expect(await inside(askBy(`allowed.test:${port}`))).toBe('200 200');
    for (const target of [
      ...[`inside.test:${port}`, `metadata.test:${port}`, `mixed.test:${port}`],
      ...['169.254.169.254:80', '10.0.0.1:80', `127.0.0.2:${port}`, `other.test:${port}`],
    ])
      expect({ target, status: await inside(askBy(target)) }).toEqual({ target, status: '403 403' });
    // Twice for each of the seven.
    expect(refused).toHaveLength(14);
    for (const to of [`${port},'127.0.0.1'`, "80,'169.254.169.254'", "80,'10.0.0.1'"])
      expect(await inside(pastIt(to))).toMatch(/^(ECONNREFUSED|ENETUNREACH|EACCES)$/);
    await runtime.destroy(request.sandboxId);
    await harness.close();
  };

  describeWith('bwrap', 'seen from a namespace sandbox', () => {
    it('shares its directory with no data', async () => {
      const harness = await createProcessHarness('namespaces', undefined, {
        egressSocket: path.join(dir, 'egress.sock'),
        dataDir: path.join(dir, 'data', 'd'),
        socketDir: path.join(dir, 'data', 's'),
      }).catch((error: unknown) => error as Error);
      expect(harness).toMatchObject({ code: 'runtime_failed' });
    });

    it('is the only way out, and is found by the usual variables', async () => {
      const egressSocket = path.join(dir, 'egress.sock');
      await openToContainers([egressSocket]);
      await expectOneWayOut(await createProcessHarness('namespaces', undefined, { egressSocket }));
    });
  });

  describeWith('dockerd', 'seen from a container', () => {
    it(
      'is the only way out, and is found by the usual variables',
      async () => {
        const egressSocket = path.join(dir, 'egress.sock');
        await openToContainers([egressSocket]);
        await expectOneWayOut(await createDockerHarness({ egressSocket }));
      },
      CONTAINER_MS_MAX,
    );
  });
});
