/** The list of attempts itself: long enough, each distinct, and enough of them succeed where nothing separates. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROBES } from './escape-suite.ts';

/** What is promised of every real runtime: so many that are denied there, and succeed where nothing separates. */
const JUDGED_MIN = 120;
/** As many must get out of a plain process of an ordinary user; else the list could pass because it is broken. */
const ESCAPES_MIN = 100;
const WORDS = {
  escapes: 'out, as anybody',
  escapes_as_root: 'out, as root',
  unjudged: 'by the host',
  not_run: 'not tried',
};
const count = (onPlain: keyof typeof WORDS): number => PROBES.filter((one) => one.onPlain === onPlain).length;

describe('the attempts', () => {
  it('are many, and have names of their own', () => {
    expect(new Set(PROBES.map(({ name }) => name)).size).toBe(PROBES.length);
  });

  it('get out of a plain process often enough', () => {
    expect(count('escapes')).toBeGreaterThanOrEqual(ESCAPES_MIN);
    expect(count('escapes') + count('escapes_as_root')).toBeGreaterThanOrEqual(JUDGED_MIN);
  });

  it('are counted on the page about security', () => {
    const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/security.md'), 'utf8');
    const rows = Object.keys(WORDS).map((key) => key as keyof typeof WORDS);
    for (const key of rows) expect(page).toContain(`| ${WORDS[key]} | ${count(key)} |`);
    expect(page).toContain(`| all | ${PROBES.length} |`);
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
