/**
 * What the Docker runtime decides without a daemon: names, errors, the filter of system calls.
 */
import { createServer } from 'node:http';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { sandboxId } from '../../core/ids.ts';
import { dockerDaemon, unless } from '../../runtimes/docker/docker-daemon.ts';
import { createDockerRuntime } from '../../runtimes/docker/docker-runtime.ts';
import { containerName, labelsOf, marksOf } from '../../runtimes/docker/names.ts';
import { seccompProfile } from '../../runtimes/docker/seccomp-profile.ts';
import { REFUSED_CALLS } from '../../runtimes/on-host/seccomp/refused-calls.ts';
import { realClock } from '../contract/real-clock.ts';
import { newRequest } from '../contract/runtime-suite.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const ID = sandboxId('0123456789abcdef0123456789abcdef');
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

describe('names of containers', () => {
  it('tell installation, sandbox and generation, so that one start has one name', () => {
    expect(containerName('/a', ID, 2)).toMatch(/^parley-[0-9a-f]{8}-0123456789abcdef0123456789abcdef-2$/);
    expect(containerName('/a', ID, 2)).toBe(containerName('/a', ID, 2));
    expect(
      new Set([containerName('/a', ID, 2), containerName('/b', ID, 2), containerName('/a', ID, 3)]).size,
    ).toBe(3);
  });

  it('are read back from labels by their own installation only', () => {
    const marks = { sandboxId: ID, generation: 7 };
    expect(marksOf('/a', labelsOf('/a', marks))).toEqual(marks);
    expect(marksOf('/b', labelsOf('/a', marks))).toBeNull();
    expect(marksOf('/a', {})).toBeNull();
    expect(marksOf('/a', { ...labelsOf('/a', marks), 'dev.parley.generation': 'x' })).toBeNull();
  });
});

describe('what the daemon says', () => {
  /** A daemon that gives one answer to everything. */
  async function daemonThatSays(status: number, message: string): Promise<string> {
    const socket = path.join(tempDir(), 'd.sock');
    const server = createServer((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message }));
    });
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    closers.push(() => new Promise((resolve) => server.close(resolve)));
    return socket;
  }
  const inspectOne = (socket: string) =>
    dockerDaemon(socket).ask('look at it', (docker) => docker.getContainer('x').inspect());

  it.each([
    [500, 'runtime_unreachable'],
    [503, 'runtime_unreachable'],
    [400, 'runtime_failed'],
    [404, 'runtime_failed'],
    [409, 'runtime_failed'],
  ])('%i is %s, with its own sentence', async (status, code) => {
    const socket = await daemonThatSays(status, 'because of that');
    await expect(inspectOne(socket)).rejects.toMatchObject({
      code,
      message: 'Cannot look at it: Docker says "because of that"',
    });
  });

  it('is no error where the answer was expected', async () => {
    const socket = await daemonThatSays(404, 'no such container');
    const asked = dockerDaemon(socket).ask('look', (docker) =>
      unless([404], docker.getContainer('x').inspect()),
    );
    expect(await asked).toBeNull();
  });

  it('is nothing where there is no daemon: unknown, with a remedy, and never gone', async () => {
    const dir = tempDir();
    const file = (name: string): string => path.join(dir, name, 'x');
    const runtime = createDockerRuntime({
      dataDir: path.join(dir, 'data'),
      socketDir: path.join(dir, 's'),
      daemonSocket: path.join(dir, 'none.sock'),
      image: 'host',
      programs: { agentServer: file('a'), sandboxInit: file('i') },
      hostSockets: { proxy: file('p'), webhook: file('w'), git: file('g') },
      clock: realClock,
      warn: () => undefined,
    });
    const remedy = expect.stringMatching(/no Docker daemon answers at ".*none\.sock"; start it/);
    await expect(runtime.list()).rejects.toMatchObject({ code: 'runtime_unreachable', message: remedy });
    await expect(runtime.start(newRequest())).rejects.toMatchObject({ code: 'runtime_unreachable' });
    await expect(runtime.destroy(ID)).rejects.toMatchObject({ code: 'runtime_unreachable' });
  });
});

describe('the filter of a container', () => {
  const profile = JSON.parse(seccompProfile('x64') ?? '{}') as {
    readonly defaultAction: string;
    readonly architectures: readonly string[];
    readonly syscalls: readonly {
      readonly names: readonly string[];
      readonly action: string;
      readonly errnoRet?: number;
      readonly args?: readonly { readonly value: number; readonly valueTwo?: number; readonly op: string }[];
    }[];
  };
  const rulesFor = (name: string) => profile.syscalls.filter(({ names }) => names.includes(name));
  /** What the rules say of a call with that argument, of 64 bits. */
  const answer = (name: string, argument = 0n): string => {
    const rule = rulesFor(name).find(({ args = [] }) =>
      args.every(({ op, value, valueTwo = 0 }) => {
        if (op === 'SCMP_CMP_MASKED_EQ') return (argument & BigInt(value)) === BigInt(valueTwo);
        return op === 'SCMP_CMP_EQ' ? argument === BigInt(value) : argument >= BigInt(value);
      }),
    );
    if (rule === undefined) return `${profile.defaultAction} 1`;
    return rule.action === 'SCMP_ACT_ALLOW' ? 'allowed' : `${rule.action} ${rule.errnoRet}`;
  };

  it('refuses every call of the list, and what no list names', () => {
    for (const call of REFUSED_CALLS) expect({ call, rules: rulesFor(call) }).toEqual({ call, rules: [] });
    expect([answer('mount'), answer('of_tomorrow')]).toEqual(['SCMP_ACT_ERRNO 1', 'SCMP_ACT_ERRNO 1']);
    expect([answer('openat'), answer('execve'), answer('fork')]).toEqual(['allowed', 'allowed', 'allowed']);
  });

  it('tells the calls without visible arguments as missing', () => {
    expect([answer('clone3'), answer('io_uring_setup')]).toEqual(['SCMP_ACT_ERRNO 38', 'SCMP_ACT_ERRNO 38']);
  });

  it('lets forks and threads through, and no namespace', () => {
    expect([answer('clone', 17n), answer('clone', 0x3d0f00n)]).toEqual(['allowed', 'allowed']);
    for (const flag of [0x10000000n, 0x20000n, 0x40000000n, 0x2000000n])
      expect(answer('clone', flag | 17n)).toBe('SCMP_ACT_ERRNO 1');
  });

  it('lets four families of sockets through, and no other', () => {
    const families = Array.from({ length: 64 }, (_, family) => BigInt(family));
    expect(families.filter((family) => answer('socket', family) === 'allowed')).toEqual([1n, 2n, 10n, 16n]);
    expect(answer('socket', 40n)).toBe('SCMP_ACT_ERRNO 97');
  });

  it('lets no text be put into a terminal, whatever the upper half of the request says', () => {
    for (const request of [0x5412n, 0x541cn, 0x7_0000_5412n, 0x7_0000_541cn])
      expect(answer('ioctl', request)).toBe('SCMP_ACT_ERRNO 1');
    for (const request of [0n, 0x5401n, 0x5411n, 0x5413n, 0x541an, 0x541en, 0x80005412n, 0xffffffffn])
      expect(answer('ioctl', request)).toBe('allowed');
  });

  it('names one architecture, and there is none for a processor it was not written for', () => {
    expect(profile.architectures).toEqual(['SCMP_ARCH_X86_64']);
    expect(seccompProfile('mips')).toBeNull();
  });
});
