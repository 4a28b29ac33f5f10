/** Where control groups can be made, from the texts of the kernel; and what is written into them. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCgroups } from '../../runtimes/process/cgroups/find-cgroups.ts';
import { groupOf, makeGroup, outOfMemoryKills } from '../../runtimes/process/cgroups/sandbox-group.ts';
import { createProcessHarness } from '../contract/process-harness.ts';
import { newRequest } from '../contract/runtime-suite.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const LIMITS = { memoryBytes: 1000, processes: 7, cpus: 0.5, fileBytes: null, workspaceBytes: null };

/** A made-up hierarchy: directories with the file that every group has. */
function hierarchy(...groups: readonly string[]): string {
  const root = tempDir();
  for (const group of groups) {
    mkdirSync(path.join(root, group), { recursive: true });
    writeFileSync(path.join(root, group, 'cgroup.procs'), '');
  }
  return root;
}

describe('findCgroups()', () => {
  it('makes groups of version 2 beside its own, where the controllers were handed on', () => {
    const root = hierarchy('system.slice', 'system.slice/parley.service');
    const mountinfo = `30 1 0:1 / ${root} rw - cgroup2 cgroup2 rw`;
    const sources = { mountinfo, ownGroups: '0::/system.slice/parley.service\n' };
    expect(findCgroups(sources)).toBeNull();
    writeFileSync(path.join(root, 'system.slice/cgroup.subtree_control'), 'cpu memory pids\n');
    const parent = path.join(root, 'system.slice');
    expect(findCgroups(sources)).toEqual({
      version: 2,
      parents: { memory: parent, pids: parent, cpu: parent, freezer: parent },
    });
  });

  it('makes groups of version 1 below its own, as far as they are there', () => {
    const root = hierarchy('memory/a/b', 'pids');
    const line = (name: string): string => `3 1 0:2 / ${path.join(root, name)} rw - cgroup cgroup rw,${name}`;
    const mountinfo = ['memory', 'pids', 'cpu'].map(line).join('\n');
    const found = findCgroups({ mountinfo, ownGroups: '4:memory:/a/b\n8:pids:/\n1:cpu:/gone\n0::/\n' });
    expect(found).toEqual({
      version: 1,
      parents: { memory: path.join(root, 'memory/a/b'), pids: path.join(root, 'pids') },
    });
  });

  it('counts a path from what a container mounts', () => {
    const root = hierarchy('inner');
    const mountinfo = `3 1 0:2 /docker/1 ${root} rw - cgroup cgroup rw,pids`;
    const found = findCgroups({ mountinfo, ownGroups: '8:pids:/docker/1/inner\n' });
    expect(found?.parents.pids).toBe(path.join(root, 'inner'));
  });

  it('finds none where nothing is mounted, and at the root of version 2', () => {
    expect(findCgroups({ mountinfo: '', ownGroups: '' })).toBeNull();
    const root = hierarchy('');
    const mountinfo = `30 1 0:1 / ${root} rw - cgroup2 cgroup2 rw`;
    expect(findCgroups({ mountinfo, ownGroups: '0::/\n' })).toBeNull();
  });
});

describe('makeGroup()', () => {
  it.each([
    [1, { 'memory.limit_in_bytes': '1000', 'cpu.cfs_quota_us': '50000', 'pids.max': '7' }],
    [2, { 'memory.max': '1000', 'cpu.max': '50000 100000', 'pids.max': '7' }],
  ] as const)('writes the limits of version %d', async (version, files) => {
    const parent = tempDir();
    const group = groupOf({ version, parents: { memory: parent, pids: parent, cpu: parent } }, 'one');
    await makeGroup(group, LIMITS);
    for (const [name, text] of Object.entries(files)) {
      expect(readFileSync(path.join(parent, 'one', name), 'utf8')).toBe(text);
    }
  });

  it('writes nothing where nothing is bounded', async () => {
    const parent = tempDir();
    const none = { memoryBytes: null, processes: null, cpus: null, fileBytes: null, workspaceBytes: null };
    await makeGroup(groupOf({ version: 2, parents: { memory: parent } }, 'one'), none);
    expect(readdirSync(path.join(parent, 'one'))).toEqual([]);
  });

  it('reads how often the kernel ended something', async () => {
    const parent = tempDir();
    const group = groupOf({ version: 2, parents: { memory: parent } }, 'one');
    expect(await outOfMemoryKills(group)).toBe(0);
    mkdirSync(path.join(parent, 'one'));
    writeFileSync(path.join(parent, 'one/memory.events'), 'oom 4\noom_kill 3\noom_group_kill 0\n');
    expect(await outOfMemoryKills(group)).toBe(3);
  });
});

describe('leftovers', () => {
  it('are removed, and what belongs to a sandbox stays', async () => {
    const { runtime, options, close } = await createProcessHarness('none');
    const request = newRequest();
    await runtime.start(request);
    const stray = path.join(options.socketDir, 'abcdef012345');
    mkdirSync(stray);
    mkdirSync(path.join(options.socketDir, 'not-ours'));
    expect(await runtime.removeLeftovers?.()).toEqual(['socket directory abcdef012345']);
    expect(readdirSync(options.socketDir)).toHaveLength(2);
    expect((await runtime.inspect(request.sandboxId)).kind).toBe('up');
    await runtime.destroy(request.sandboxId);
    await close();
  });
});
