/** The list of attempts itself: long enough, each told apart, and enough of them succeed where nothing separates. */
import { describe, expect, it } from 'vitest';
import { PROBES } from './escape-suite.ts';

/** What is promised of every real runtime. */
const PROBES_MIN = 40;
/** As many must get out of a plain process of an ordinary user; else the list could pass because it is broken. */
const ESCAPES_MIN = 30;

describe('the attempts', () => {
  it('are many, and have names of their own', () => {
    expect(PROBES.length).toBeGreaterThanOrEqual(PROBES_MIN);
    expect(new Set(PROBES.map(({ name }) => name)).size).toBe(PROBES.length);
  });

  it('get out of a plain process often enough', () => {
    expect(PROBES.filter(({ onPlain }) => onPlain === 'escapes').length).toBeGreaterThanOrEqual(ESCAPES_MIN);
  });

  it.each([
    ...['outside of its workspace', 'reads a secret of the host', 'workspace of another sandbox'],
    ...['host on loopback', 'metadata service', 'private network, 10/8', 'socket file of the host'],
    ...['traces a process', 'mounts a file system', 'user namespace', 'TIOCSTI', '/proc/1/root'],
    ...['an open file of the host', 'symbolic link', 'extracts an archive', 'key of the gateway'],
    'address of the gateway',
  ])('are after what they must be after: %s', (what) => {
    const after = PROBES.filter(({ name, script }) => name.includes(what) || String(script).includes(what));
    expect(after).not.toEqual([]);
  });
});
