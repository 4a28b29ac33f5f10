/**
 * Descriptors that our parent process had open: a child gets them, until they were marked.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { inheritable, keepDescriptorsFromChildren } from '../../runtimes/on-host/inherited-descriptors.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { LEAKED_DESCRIPTOR, leakDescriptor } from './leaked-descriptor.ts';

const openInChild = (): string =>
  spawnSync('readlink', [`/proc/self/fd/${LEAKED_DESCRIPTOR}`], { encoding: 'utf8' }).stdout.trim();

describe('a descriptor that whoever started us left open', () => {
  it.skipIf(process.platform !== 'linux')('reaches a child before it is marked, and none after', () => {
    const dir = tempDir();
    expect(leakDescriptor(dir)).toBe(true);
    expect(openInChild()).toBe(dir);
    expect(inheritable()).toContain(LEAKED_DESCRIPTOR);
    keepDescriptorsFromChildren();
    expect(openInChild()).toBe('');
    expect(inheritable()).toEqual([]);
    // We may still use it, as `parley run <(…)` does.
    expect(readdirSync(`/proc/self/fd/${LEAKED_DESCRIPTOR}`)).toEqual(readdirSync(path.resolve(dir)));
    closeSync(LEAKED_DESCRIPTOR);
  });

  it.skipIf(process.platform !== 'linux')('is marked, too, where the temporary folder is none', () => {
    const before = process.env['TMPDIR'];
    expect(leakDescriptor(tempDir())).toBe(true);
    try {
      process.env['TMPDIR'] = path.join(tempDir(), 'nothing', 'here');
      keepDescriptorsFromChildren();
      expect(openInChild()).toBe('');
      expect(inheritable()).toEqual([]);
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
      closeSync(LEAKED_DESCRIPTOR);
    }
  });

  it('is no reason for a command to end, wherever the temporary folder is', () => {
    const parley = path.resolve(import.meta.dirname, '../../bin/parley.js');
    const inherited = openSync(tempDir(), 'r');
    const { status, stderr } = spawnSync(process.execPath, [parley, 'explain', 'JOB101'], {
      env: { ...process.env, TMPDIR: '/nonexistent/folder' },
      stdio: ['ignore', 'pipe', 'pipe', inherited],
      encoding: 'utf8',
    });
    closeSync(inherited);
    expect({ status, stderr }).toMatchObject({ status: 0 });
  });
});
