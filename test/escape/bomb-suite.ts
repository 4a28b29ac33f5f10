/**
 * Sandboxes that take all they can: memory, processes, files, disk. Each ends at its bound, and a neighbour stays well.
 * The bounds are small here; how each holds is in the capabilities of the runtime. A test file says how a runtime
 * with these bounds is made.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ALLOWED_CALLS } from '../../runtimes/on-host/seccomp/allowed-calls.ts';
import type { RuntimePresence } from '../../ports/sandbox-runtime.ts';
import { post, runInside } from '../contract/runtime-inside.ts';
import type { InsideCall } from '../contract/runtime-inside.ts';
import type { InsideResult } from '../contract/stand-in-agent.ts';
import { newRequest, settled } from '../contract/runtime-suite.ts';
import type { RuntimeHarness } from '../contract/runtime-suite.ts';

const MEBIBYTE = 1024 ** 2;
export const BOUNDS = {
  memoryBytes: 384 * MEBIBYTE,
  processes: 80,
  cpus: 1,
  fileBytes: 16 * MEBIBYTE,
  workspaceBytes: 64 * MEBIBYTE,
};
/** Files and folders of one sandbox. */
export const FILES_MAX = 3_000;
/** Between two polls of the disk. */
export const DISK_POLL_MS = 100;

export function describeBombs(create: () => Promise<RuntimeHarness>): void {
  let harness: RuntimeHarness;
  let attacker: InsideCall;
  let neighbour: InsideCall;
  const sh = (command: string): Promise<InsideResult> => runInside(attacker, command);
  const start = async (): Promise<InsideCall> => {
    const request = newRequest();
    return { address: await harness.runtime.start(request), sessionKey: request.sessionKey };
  };
  const neighbourWorks = async (): Promise<void> =>
    expect((await runInside(neighbour, 'echo well')).stdout).toBe('well\n');

  beforeAll(async () => {
    harness = await create();
    [attacker, neighbour] = [await start(), await start()];
  });
  afterAll(async () => {
    for (const { sandboxId } of await harness.runtime.list()) await harness.runtime.destroy(sandboxId);
    await harness.close();
  });

  it('stops a memory bomb at the bound, and the sandbox goes on', async () => {
    expect(harness.runtime.capabilities.limits.memory).not.toBe('none');
    const bomb = `node -e "const a=[];for(let i=0;i<1024;i++)a.push(Buffer.alloc(1048576,1));console.log('ESCAPED')"`;
    expect((await sh(bomb)).stdout).not.toContain('ESCAPED');
    expect((await harness.runtime.inspect(attacker.address.sandboxId)).kind).toBe('up');
    await neighbourWorks();
  });

  it('stops a fork bomb at the bound', async () => {
    expect(harness.runtime.capabilities.limits.processes).toBe('sandbox');
    const fork = 'my $p = fork; if (!defined $p) { print "at $n"; last } if (!$p) { sleep 9; exit }';
    const bomb = `$| = 1; my $n = 0; while ($n++ < 400) { ${fork} } print "ESCAPED" if $n > 400; kill 9, 0`;
    expect((await sh(`setsid -w perl -e '${bomb}'`)).stdout).toMatch(/^at \d+$/);
    expect((await sh('echo again')).stdout).toBe('again\n');
    await neighbourWorks();
  });

  it.each([
    ['a huge file', `head -c ${64 * MEBIBYTE} /dev/zero > big; stat -c %s big`],
    ['a sparse file', 'truncate -s 1T sparse; stat -c %s sparse'],
  ])('cuts %s at the bound', async (_, command) => {
    const { stdout } = await sh(`${command}; rm -f big sparse`);
    expect(Number(stdout.trim() || 0)).toBeLessThanOrEqual(BOUNDS.fileBytes);
  });

  it.each(['/tmp', '/dev/shm'])('bounds the files in memory of %s below that of the sandbox', async (dir) => {
    const fill = `for i in $(seq 40); do head -c 8M /dev/zero > ${dir}/fill-$i || break; done 2>/dev/null`;
    const { stdout } = await sh(`${fill}; du -sk ${dir} | cut -f1; rm -f ${dir}/fill-*`);
    expect(Number(stdout) * 1024).toBeGreaterThan(8 * MEBIBYTE);
    expect(Number(stdout) * 1024).toBeLessThanOrEqual(BOUNDS.memoryBytes / 4 + MEBIBYTE);
    await neighbourWorks();
  });

  it('takes no file beside the devices, which would be memory without a bound', async () => {
    expect((await sh('echo x > /dev/planted; ls /dev/planted')).stdout).toBe('');
    expect((await sh('echo x > /dev/null && echo well')).stdout).toBe('well\n');
  });

  it('takes all instances of inotify it can, and none from its neighbour, where each has a user of its own', async () => {
    if (harness.runtime.capabilities.kind !== 'process' || process.getuid?.() !== 0) return;
    const watchers = ALLOWED_CALLS.find(({ name }) => name === 'inotify_init1')?.number;
    const call = `syscall(${watchers?.[process.arch === 'arm64' ? 'arm64' : 'x64'] ?? -1}, 0)`;
    const take = `my $n = 0; $n++ while $n < 100_000 && ${call} >= 0; print "$! after $n\\n"; close STDOUT; sleep 4`;
    const taken = sh(`ulimit -n hard 2> /dev/null; perl -e '${take}'`);
    const tries = `for (1 .. 20) { ${call} >= 0 or die $!; select undef, undef, undef, 0.1 } print "well"`;
    expect((await runInside(neighbour, `perl -e '${tries}'`)).stdout).toBe('well');
    expect((await taken).stdout).toMatch(/^Too many open files after \d{2,}$/m);
  });

  it('shares the processor with a neighbour while it spins', async () => {
    const spin = `for i in 1 2 3 4; do perl -e 'alarm 1; 1 while 1' & done; wait`;
    await Promise.all([sh(spin), neighbourWorks()]);
  });

  it('ends a sandbox that fills the disk, says why, and keeps its files', async () => {
    const fill = 'for i in $(seq 20); do head -c 8M /dev/zero > fill-$i; done; sleep 20';
    await sh(fill).catch(() => null);
    const id = attacker.address.sandboxId;
    const ended = await settled(harness.runtime, id, 'crashed');
    expect(ended).toMatchObject({
      cause: { kind: 'disk_limit', bound: 'bytes' },
      reason: expect.stringContaining('on disk'),
    });
    await neighbourWorks();
    await harness.runtime.stop({ sandboxId: id, generation: 1 });
    expect((await harness.runtime.inspect(id)).kind).toBe('stopped');
  });

  /** In a sandbox of its own, which is ended for it; null when the command ended and the sandbox is up. */
  const endedFor = async (command: string): Promise<RuntimePresence | null> => {
    const request = newRequest();
    const call = { address: await harness.runtime.start(request), sessionKey: request.sessionKey };
    const isOver = await runInside(call, command).then(
      ({ code }) => code === 0,
      () => false,
    );
    return isOver ? null : await settled(harness.runtime, request.sandboxId, 'crashed');
  };

  it('ends a sandbox that makes files without end, and says so', async () => {
    const fill = `i=0; while [ $i -lt ${2 * FILES_MAX} ]; do : > f$i; i=$((i + 1)); done; sleep 15`;
    expect(await endedFor(fill)).toMatchObject({
      cause: { kind: 'disk_limit', bound: 'files' },
      reason: expect.stringContaining('more files'),
    });
    await neighbourWorks();
  });

  it('ends one that makes files where its socket is, unless its tools cannot', async () => {
    const made = 'ls "${PARLEY_AGENT_SOCKET%/*}" | grep -c .';
    const fill = `for i in $(seq 300); do touch "$PARLEY_AGENT_SOCKET.$i"; done 2> /dev/null; [ "$(${made})" = 0 ] || sleep 15`;
    const ended = await endedFor(fill);
    if (ended !== null)
      expect(ended).toMatchObject({ cause: { kind: 'disk_limit', bound: 'socket_folder' } });
    expect(ended === null).toBe(harness.runtime.capabilities.tools === 'apart');
    await neighbourWorks();
  });

  it('ends one that holds files without a name, where processes can be looked at', async () => {
    if (harness.runtime.capabilities.kind !== 'process') return;
    const hold = `for my $n (1 .. 6) { open my $f, ">", "held"; unlink "held"; push @all, $f; print $f "x" x 15e6; $f->flush }`;
    expect(await endedFor(`perl -MIO::Handle -e '${hold} sleep 15'`)).toMatchObject({
      cause: { kind: 'disk_limit', bound: 'bytes' },
    });
    await neighbourWorks();
  });

  it('tells of an agent that the kernel ended for its memory', async () => {
    if (harness.runtime.capabilities.limits.memory !== 'sandbox') return;
    const request = newRequest();
    const call = { address: await harness.runtime.start(request), sessionKey: request.sessionKey };
    await post(call, '/grow', String(2 * BOUNDS.memoryBytes)).catch(() => null);
    expect(await settled(harness.runtime, request.sandboxId, 'crashed')).toMatchObject({
      cause: { kind: 'out_of_memory' },
      reason: expect.stringContaining('used up its memory'),
    });
    await neighbourWorks();
  });
}
