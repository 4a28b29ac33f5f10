/**
 * What the Docker runtime decides without a daemon: names, errors, the filter of system calls.
 */
import { createServer } from 'node:http';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { sandboxId } from '../../core/ids.ts';
import { dockerDaemon, unless } from '../../runtimes/docker/docker-daemon.ts';
import { createDockerRuntime } from '../../runtimes/docker/docker-runtime.ts';
import { isImageReference } from '../../runtimes/docker/image/sandbox-image.ts';
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

describe('an image', () => {
  const sum = 'a'.repeat(64);
  it.each([
    ['host', true],
    [`name@sha256:${sum}`, true],
    [`host.example/a/b@sha256:${sum}`, true],
    [`sha256:${sum}`, true],
    ['name:latest', false],
    [`name@sha256:${sum.slice(1)}`, false],
    ['', false],
  ])('is named for good by "%s": %s', (text, isOne) => expect(isImageReference(text)).toBe(isOne));
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
    readonly architectures: readonly string[];
    readonly syscalls: readonly {
      readonly names: readonly string[];
      readonly errnoRet: number;
      readonly args?: readonly { readonly value: number; readonly valueTwo?: number; readonly op: string }[];
    }[];
  };
  const rulesFor = (name: string) => profile.syscalls.filter(({ names }) => names.includes(name));

  it('refuses every call of the list, whatever its arguments', () => {
    for (const call of REFUSED_CALLS) {
      expect(rulesFor(call).map(({ errnoRet, args }) => ({ errnoRet, args }))).toEqual([{ errnoRet: 1 }]);
    }
  });

  it('tells the calls without visible arguments as missing', () => {
    expect(rulesFor('clone3')).toMatchObject([{ errnoRet: 38 }]);
  });

  it('lets four families of sockets through, and no other', () => {
    const refused = (family: number): boolean =>
      rulesFor('socket').some(({ args = [] }) =>
        args.some(({ op, value }) => (op === 'SCMP_CMP_EQ' ? family === value : family >= value)),
      );
    const let_through = Array.from({ length: 64 }, (_, family) => family).filter(
      (family) => !refused(family),
    );
    expect(let_through).toEqual([1, 2, 10, 16]);
  });

  it('looks at 32 bits of a request to a terminal', () => {
    for (const { args = [] } of rulesFor('ioctl')) {
      expect(args).toMatchObject([{ value: 0xffffffff, op: 'SCMP_CMP_MASKED_EQ' }]);
    }
    expect(rulesFor('ioctl').flatMap(({ args = [] }) => args.map((one) => one.valueTwo))).toEqual([
      0x5412, 0x541c,
    ]);
  });

  it('names one architecture, and there is none for a processor it was not written for', () => {
    expect(profile.architectures).toEqual(['SCMP_ARCH_X86_64']);
    expect(seccompProfile('mips')).toBeNull();
  });
});
