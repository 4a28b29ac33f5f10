/**
 * Descriptors that whoever started us had open: a child gets them, until they were marked.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, readdirSync } from 'node:fs';
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
});
