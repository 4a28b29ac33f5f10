/**
 * The way out of a sandbox: loopback ports that lead to sockets of the host.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { chmodSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { otherUserArguments, parseInitArguments } from '../../runtimes/process/inside/arguments.ts';
import type { OtherUser } from '../../runtimes/process/inside/other-user.ts';
import { openBridge, openEntrance } from '../../runtimes/process/inside/bridge.ts';
import { createProcessHarness } from '../contract/process-harness.ts';
import { runInside } from '../contract/runtime-inside.ts';
import { newRequest } from '../contract/runtime-suite.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';

/** Answers with how many bytes came, once the caller has ended its half. */
async function serveCounting(socketPath: string, name: string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let bytes = 0;
    socket.on('data', (chunk) => (bytes += chunk.length));
    socket.on('end', () => socket.end(`${name} ${bytes}`));
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  onTestFinished(() => void server.close());
  return server;
}

function exchange(port: number, bytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
    socket.end(Buffer.alloc(bytes));
  });
}

describe('openBridge()', () => {
  it('copies both ways, keeps half-closed connections open and survives a replaced socket', async () => {
    const socketPath = path.join(tempDir(), 'host.sock');
    const bridge = await openBridge({ port: 0, socketPath });
    onTestFinished(() => void bridge.close());
    const { port } = bridge.address() as AddressInfo;
    expect(await exchange(port, 1).catch(() => '')).toBe('');
    const first = await serveCounting(socketPath, 'first');
    expect(await Promise.all([exchange(port, 5_000_000), exchange(port, 0)])).toEqual([
      'first 5000000',
      'first 0',
    ]);
    first.close();
    rmSync(socketPath, { force: true });
    await serveCounting(socketPath, 'second');
    expect(await exchange(port, 3)).toBe('second 3');
  });
});

describe('openEntrance()', () => {
  it('lets every address of this machine in, and a bridge leads to another machine', async () => {
    const socketPath = path.join(tempDir(), 'agent.sock');
    await serveCounting(socketPath, 'agent');
    const entrance = await openEntrance({ port: 0, socketPath });
    onTestFinished(() => void entrance.close());
    const remote = { host: '127.0.0.2', port: (entrance.address() as AddressInfo).port };
    const bridge = await openBridge({ port: 0, remote });
    onTestFinished(() => void bridge.close());
    expect(await exchange((bridge.address() as AddressInfo).port, 70_000)).toBe('agent 70000');
  });
});

describe('parseInitArguments()', () => {
  it('reads whom tools run as, and hands the second process all of it but the folders', () => {
    const given = ['--other-user', '10001:10002:7=/o', '--door', '/run/a', '--door', '/run/b'];
    const { otherUser } = parseInitArguments([...given, '--log-bytes-max', '9', '--', '/a']);
    expect(otherUser).toEqual({
      ...{ uid: 10_001, gid: 10_002, group: 7, object: '/o' },
      doors: ['/run/a', '/run/b'],
    });
    const second = otherUserArguments(otherUser as OtherUser);
    expect(parseInitArguments(['--agent', ...second, '--', '/a']).otherUser).toEqual({
      ...otherUser,
      doors: [],
    });
    for (const wrong of ['10001:10001=/o', 'a:1:1=/o', '1:1:1=o'])
      expect(() => parseInitArguments(['--other-user', wrong, '--', '/a'])).toThrow('UID:GID:GROUP=FILE');
  });

  it('reads bridges, the log bound, the guard and the agent server', () => {
    const argv = ['--bridge', '4100=/a.sock', '--log-bytes-max', '10', '--guard', '/g', '--', '/a.cjs'];
    expect(parseInitArguments(argv)).toEqual({
      role: 'first',
      bridges: [{ port: 4100, socketPath: '/a.sock' }],
      entrance: null,
      guard: '/g',
      otherUser: null,
      logBytesMax: 10,
      agentServer: '/a.cjs',
    });
  });

  it('reads bridges to other machines, and the entrance of a sandbox that is reached over a network', () => {
    const bridges = ['--bridge', '4100=192.0.2.1:80', '--bridge', '4101=[2001:db8::1]:81'];
    const argv = [...bridges, '--entrance', '8000=/a.sock', '--log-bytes-max', '10', '--', '/a.cjs'];
    expect(parseInitArguments(argv)).toMatchObject({
      bridges: [
        { port: 4100, remote: { host: '192.0.2.1', port: 80 } },
        { port: 4101, remote: { host: '2001:db8::1', port: 81 } },
      ],
      entrance: { port: 8000, socketPath: '/a.sock' },
    });
  });

  it('reads the role of the second process', () => {
    expect(parseInitArguments(['--agent', '--', '/a.cjs'])).toMatchObject({
      role: 'agent',
      guard: null,
      agentServer: '/a.cjs',
    });
  });

  it.each([
    [[], 'no agent server'],
    [['--log-bytes-max', '1', '--'], 'no agent server'],
    [['--', 'x'], '"--log-bytes-max" is missing'],
    [['--bridge', 'nonsense', '--', 'x'], '"nonsense"'],
    [['--entrance', '8000=192.0.2.1:80', '--', 'x'], '"8000=192.0.2.1:80"'],
    [['--log-bytes-max', '-1', '--', 'x'], '"-1"'],
    [['--other', '1', '--', 'x'], '"--other"'],
  ])('refuses %j', (argv, problem) => {
    expect(() => parseInitArguments(argv)).toThrow(problem);
  });
});

for (const isolation of ['namespaces', 'none'] as const) {
  const register = isolation === 'none' ? (describe as typeof describe) : describeWith.bind(null, 'bwrap');
  register(`routes of a sandbox, isolation ${isolation}`, () => {
    it('lead to the sockets of the host, also to ones that come later', async () => {
      const harness = await createProcessHarness(isolation);
      onTestFinished(() => harness.close());
      const request = newRequest();
      const address = await harness.runtime.start(request);
      onTestFinished(() => harness.runtime.destroy(request.sandboxId));
      const { hostSockets } = harness.options;
      for (const name of ['proxy', 'webhook', 'git'] as const) {
        await serveCounting(hostSockets[name], name);
        // As a deployment leaves it: a sandbox that root starts is another user's.
        chmodSync(hostSockets[name], 0o666);
        const { port } = new URL(address.routes[`${name}Url`]);
        const script = `const s=require('net').connect({port:${port},host:'127.0.0.1',allowHalfOpen:true});s.end('four');s.pipe(process.stdout)`;
        const { stdout } = await runInside(
          { address, sessionKey: request.sessionKey },
          `node -e "${script}"`,
        );
        expect(stdout).toBe(`${name} 4`);
      }
    });
  });
}
