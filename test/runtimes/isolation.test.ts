/**
 * Attempts to get out of a namespace sandbox, each of which must fail while the sandbox stays healthy.
 */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProcessHarness } from '../contract/process-harness.ts';
import type { ProcessHarness } from '../contract/process-harness.ts';
import { runInside } from '../contract/runtime-inside.ts';
import type { InsideCall } from '../contract/runtime-inside.ts';
import type { InsideResult } from '../contract/stand-in-agent.ts';
import { newRequest } from '../contract/runtime-suite.ts';
import { describeWith } from '../helpers/requires.ts';

describeWith('bwrap', 'isolation of a namespace sandbox', () => {
  let harness: ProcessHarness;
  let sandbox: InsideCall;
  const sh = (command: string): Promise<InsideResult> => runInside(sandbox, command);

  beforeAll(async () => {
    harness = await createProcessHarness('namespaces');
    const request = newRequest();
    sandbox = { address: await harness.runtime.start(request), sessionKey: request.sessionKey };
  });
  afterAll(async () => {
    await harness.runtime.destroy(sandbox.address.sandboxId);
    await harness.close();
  });

  it('writes nowhere but into its workspace, its state and memory', async () => {
    const places =
      '/usr/x /etc/x /etc/passwd /opt/parley/x /opt/parley/agent-server.cjs /run/parley/host/git/x';
    const probe = `for p in ${places}; do (: >> $p) 2>/dev/null && echo "wrote $p"; done; : > /workspace/x && echo ok`;
    expect((await sh(probe)).stdout).toBe('ok\n');
  });

  it('sees no process but its own', async () => {
    const { stdout } = await sh('cat /proc/[0-9]*/cmdline | tr "\\0" " "; echo; ls -d /proc/[0-9]* | wc -l');
    expect(stdout).not.toContain('vitest');
    expect(Number(stdout.trim().split('\n').at(-1))).toBeLessThan(12);
  });

  it('has no way to a port of the host, nor any network device', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const connect = (host: string): string =>
      `node -e "require('net').connect(${port},'${host}').on('connect',()=>console.log('in')).on('error',e=>console.log(e.code))"`;
    expect((await sh(connect('127.0.0.1'))).stdout).toBe('ECONNREFUSED\n');
    expect((await sh(connect('192.0.2.1'))).stdout).toBe('ENETUNREACH\n');
    expect((await sh('tail -n +3 /proc/net/dev | cut -d: -f1')).stdout.trim()).toBe('lo');
    server.close();
  });

  it('reads neither homes of the host nor our data', async () => {
    const secret = path.join(harness.options.dataDir, 'host-secret');
    writeFileSync(secret, 'secret');
    const { stdout } = await sh(
      `cat ${secret} /etc/shadow /etc/hostname 2>/dev/null; ls -A /root /home /var /mnt /tmp 2>/dev/null`,
    );
    expect(stdout.split('\n').filter((line) => line !== '')).toEqual(
      ['/home:', 'agent', '/tmp:', ''].filter(Boolean),
    );
    expect((await sh('ls -A / | sort | tr "\\n" " "')).stdout).not.toMatch(/\b(root|var|work|mnt|srv|sys)\b/);
  });

  it("sees no socket: none of another sandbox, none of the host, and its own agent's is out of its reach", async () => {
    const { stdout } = await sh('find / -xdev -type s 2>/dev/null; find /run -type s');
    expect(stdout.trim()).toBe('');
    expect((await sh('cat /proc/net/unix | grep -c @ || true')).stdout.trim()).toBe('0');
  });

  it('has no privilege and cannot get one', async () => {
    const { stdout } = await sh('id -u; grep -E "Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs" /proc/self/status');
    expect(stdout.split('\n')[0]).toBe('1000');
    expect(stdout.match(/^Cap\w+:\t0{16}$/gm)).toHaveLength(5);
    expect(stdout).toContain('NoNewPrivs:\t1');
    for (const attempt of [
      'unshare -U true',
      'unshare -Ur mount -t tmpfs x /tmp',
      'mount -t tmpfs x /tmp',
      'mknod /workspace/d b 8 0',
    ]) {
      expect((await sh(attempt)).code, attempt).not.toBe(0);
    }
  });

  it('shows the session key neither to a shell nor to the process list of the host', async () => {
    expect((await sh('env')).stdout).not.toContain(sandbox.sessionKey);
    const commandLines = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => readIfThere(`/proc/${pid}/cmdline`));
    expect(commandLines.some((line) => line.includes('bwrap'))).toBe(true);
    expect(commandLines.some((line) => line.includes(sandbox.sessionKey))).toBe(false);
    const id = sandbox.address.sandboxId;
    const record = readFileSync(path.join(harness.options.dataDir, 'sandboxes', id, 'spec.json'), 'utf8');
    expect(record).not.toContain(sandbox.sessionKey);
  });

  it('gets nothing of the host by inheritance: variables, descriptors, terminal', async () => {
    const names = (await sh('env | cut -d= -f1 | sort')).stdout.trim().split('\n');
    expect(names.filter((name) => !/^(PARLEY_|OH_)/.test(name))).toEqual(
      [
        'HOME',
        'LANG',
        'LOGNAME',
        'PATH',
        'PWD',
        'SHELL',
        'USER',
        ...(names.includes('OLDPWD') ? ['OLDPWD'] : []),
      ].sort(),
    );
    const files = (
      await sh(
        // Listed before anything else begins: a program that loads its libraries has them open for a moment.
        'open=$(ls -l /proc/[0-9]*/fd 2>/dev/null); printf "%s" "$open" | grep -o "> .*" | grep -v "^> \\(/dev\\|anon\\|socket\\|pipe\\|/proc/[0-9]*/fd\\)"',
      )
    ).stdout;
    // The log of the sandbox is the Agent Server's, which tools do not see.
    expect(files).toBe('');
    expect((await sh('true < /dev/tty')).code).not.toBe(0);
  });

  it('cannot leave through a socket path that it replaces by a link', async () => {
    await sh('ln -s /run/parley/host/git /workspace/link; ln -sf / /run/parley/agent/escape');
    expect(readdirSync(harness.options.socketDir)).toHaveLength(1);
    expect((await harness.runtime.inspect(sandbox.address.sandboxId)).kind).toBe('up');
  });

  it('works: git, shell tools and Node.js are there', async () => {
    const { code, stderr } = await sh(
      'git init -q r && cd r && git -c user.name=a -c user.email=b commit -q --allow-empty -m x && awk 1 /dev/null && node -e 0',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
