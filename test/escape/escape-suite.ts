/**
 * Every attempt to get out, in a real sandbox that has a neighbour.
 * Owns what the attempts are after, and the cases; a test file says how its runtime is made. `isolated` false runs
 * them where nothing separates, and there they must succeed: so the suite can fail.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { END_OTHERS } from '../../activities/leftover-processes.ts';
import { runInside } from '../contract/runtime-inside.ts';
import type { InsideCall } from '../contract/runtime-inside.ts';
import { newRequest } from '../contract/runtime-suite.ts';
import type { RuntimeHarness } from '../contract/runtime-suite.ts';
import { removeDir } from '../helpers/temp-dir.ts';
import { FILE_PROBES } from './file-probes.ts';
import { HOST_FILE_PROBES } from './host-file-probes.ts';
import { HOST_PROCESS_PROBES } from './host-process-probes.ts';
import { KERNEL_PROBES } from './kernel-probes.ts';
import { NETWORK_PROBES } from './network-probes.ts';
import { ESCAPED } from './probe.ts';
import { leakDescriptor } from './leaked-descriptor.ts';
import type { EscapeTargets, Probe } from './probe.ts';
import { PROCESS_PROBES } from './process-probes.ts';
import { SERVER_PROBES } from './server-probes.ts';

export const PROBES: readonly Probe[] = [
  ...FILE_PROBES,
  ...NETWORK_PROBES,
  ...PROCESS_PROBES,
  ...SERVER_PROBES,
  ...KERNEL_PROBES,
  ...HOST_FILE_PROBES,
  ...HOST_PROCESS_PROBES,
];

export interface EscapeSetup {
  readonly create: () => Promise<RuntimeHarness>;
  readonly isolated: boolean;
  /** Names of probes that this runtime does not deny, each of which its page must name. */
  readonly exceptions?: readonly string[];
}

export function describeEscapes({ create, isolated, exceptions = [] }: EscapeSetup): void {
  let harness: RuntimeHarness;
  let attacker: InsideCall;
  let neighbour: InsideCall;
  let host: HostTargets;
  let leaked: string;

  beforeAll(async () => {
    // Before the runtime exists: what our parent process left open.
    leaked = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'parley-host-leaked-')));
    leakDescriptor(leaked);
    harness = await create();
    const start = async (): Promise<InsideCall> => {
      const request = newRequest();
      return { address: await harness.runtime.start(request), sessionKey: request.sessionKey };
    };
    [attacker, neighbour] = [await start(), await start()];
    host = await openTargets({
      neighbourFile: path.join(harness.workspaceOf(neighbour.address.sandboxId), 'secret.txt'),
      plant: async (secret) => void (await runInside(neighbour, `printf %s ${secret} > secret.txt`)),
    });
  });
  afterAll(async () => {
    await host.close();
    removeDir(leaked);
    for (const { sandboxId } of await harness.runtime.list()) await harness.runtime.destroy(sandboxId);
    await harness.close();
  });

  it('has the tools the attempts are made with', async () => {
    const { code } = await runInside(attacker, 'command -v perl node tar unshare grep cut > /dev/null');
    expect(code).toBe(0);
  });

  for (const probe of PROBES) {
    const mayEscape = exceptions.includes(probe.name);
    if (mayEscape || (!isolated && probe.onPlain === 'not_run')) continue;
    it(`${isolated ? 'denies what' : 'lets through what'} ${probe.name}`, async () => {
      const { stdout } = await runInside(attacker, probe.script(host.targets));
      const escaped = stdout.includes(ESCAPED);
      if (isolated) expect(stdout).not.toContain(ESCAPED);
      else if (probe.onPlain === 'escapes' || (probe.onPlain === 'escapes_as_root' && isRoot())) {
        expect({ escaped, stdout }).toMatchObject({ escaped: true });
      }
    });
  }

  it('speaks to the Agent Server itself, whatever listens where it did', async () => {
    const impostor = `require('net').createServer((s) => s.on('data', (d) => require('fs').appendFileSync('got', d)))`;
    const listen = `rm -f "$PARLEY_AGENT_SOCKET"; node -e "${impostor}.listen(process.env.PARLEY_AGENT_SOCKET)" > /dev/null 2>&1 &`;
    const wait = `for look in $(seq 60); do [ -S "$PARLEY_AGENT_SOCKET" ] && echo listens && break; sleep 0.05; done`;
    const { stdout } = await runInside(attacker, `${listen} ${wait}`);
    // Where tools have a place of their own they cannot even make one.
    if (!isolated) expect(stdout).toBe('listens\n');
    expect((await runInside(attacker, 'cat got; echo end')).stdout).toBe('end\n');
  });

  it('lets no variable of a tool into what starts it', async () => {
    const variables = {
      LD_PRELOAD: '/workspace/none.so',
      'ODD-NAME': 'x',
      TEXT: 'a "quoted" $word\nand `more`',
    };
    await runInside(attacker, `printf %s '${JSON.stringify(variables)}' > tool-environment.json`);
    const { stdout, stderr } = await runInside(attacker, 'printf %s "$TEXT"; rm tool-environment.json');
    expect(stdout).toBe(variables.TEXT);
    // The loader complains in each program that it is given to: the shell, and the one that it starts.
    expect(stderr.match(/none\.so/g)).toHaveLength(2);
  });

  if (isolated)
    it('ends what an ended conversation left running, and not the Agent Server', async () => {
      const running = 'cat /proc/[0-9]*/comm 2> /dev/null | grep -c ^sleep$';
      // Each is another program for the moment before it sleeps, and a dead one is listed until it is reaped.
      const until = (count: number): string =>
        `for look in $(seq 200); do [ "$(${running})" = ${count} ] && break; sleep 0.05; done; ${running}`;
      const left = 'for n in 1 2 3; do setsid sleep 3600 > /dev/null 2>&1 & done;';
      expect((await runInside(attacker, `${left} ${until(3)}`)).stdout).toBe('3\n');
      expect((await runInside(attacker, `${END_OTHERS}\n${until(0)}`)).stdout).toBe('0\n');
    });

  it('leaves the attacker up and its neighbour at work', async () => {
    expect((await harness.runtime.inspect(attacker.address.sandboxId)).kind).toBe('up');
    expect((await runInside(neighbour, 'cat secret.txt')).stdout).toBe(host.targets.secret);
  });

  it('left nothing behind on the host', () => {
    const planted = ['planted', 'climbed'].map((name) => path.join(host.targets.hostDir, name));
    expect(planted.map((file) => existsSync(file))).toEqual(isolated ? [false, false] : [true, true]);
  });
}

export interface HostTargets {
  readonly targets: EscapeTargets;
  close(): Promise<void>;
}

/** Real things of the host for the attempts to be after. */
export async function openTargets({
  neighbourFile,
  plant,
}: Pick<EscapeTargets, 'neighbourFile'> & {
  /** Writes the secret into that file, from inside the other sandbox. */
  readonly plant: (secret: string) => Promise<void>;
}): Promise<HostTargets> {
  const hostDir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'parley-host-')));
  const secret = `secret-${randomBytes(8).toString('hex')}`;
  const gatewayKey = `key-${randomBytes(16).toString('hex')}`;
  const secretFile = path.join(hostDir, 'secret');
  const hostSocket = path.join(hostDir, 'h.sock');
  const abstractSocket = `parley-escape-${randomBytes(8).toString('hex')}`;
  writeFileSync(secretFile, secret);
  await plant(secret);
  const servers = await Promise.all([listen(0), listen(hostSocket), listen(`\0${abstractSocket}`)]);
  const sleeper: ChildProcess = spawn('sleep', ['3600'], {
    env: { ...process.env, GATEWAY_KEY: gatewayKey },
  });
  process.env['ESCAPE_SUITE_MARK'] = 'host';
  const { port } = servers[0].address() as AddressInfo;
  return {
    targets: {
      ...{ hostDir, secretFile, secret, hostSocket, abstractSocket, gatewayKey, hostPort: port },
      neighbourFile,
      hostPid: sleeper.pid ?? -1,
    },
    async close() {
      sleeper.kill('SIGKILL');
      delete process.env['ESCAPE_SUITE_MARK'];
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
      removeDir(hostDir);
    },
  };
}

function listen(where: number | string): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).end());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const done = (): void => resolve(server);
    if (typeof where === 'number') server.listen(where, '127.0.0.1', done);
    else server.listen(where, done);
  });
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
