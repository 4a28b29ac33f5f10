/** What a Git server announces, and where a clone would begin. */
import { expect, it } from 'vitest';
import { branchesOf, hasStart, readRefNames } from '../../../host/preflight/ref-list.ts';

const HASH = '0123456789abcdef0123456789abcdef01234567';

function packet(line: string): string {
  return (Buffer.byteLength(line) + 4).toString(16).padStart(4, '0') + line;
}

function announced(...lines: readonly string[]): Buffer {
  return Buffer.from(`${packet('# service=git-upload-pack\n')}0000${lines.map(packet).join('')}0000`);
}

it('reads the names, with what the first line says of the server left out', () => {
  const refs = readRefNames(
    announced(`${HASH} HEAD\0side-band-64k symref=HEAD:refs/heads/main\n`, `${HASH} refs/heads/größe\n`),
  );
  expect([...(refs ?? [])]).toEqual(['HEAD', 'refs/heads/größe']);
});

it('finds nothing in a repository without a commit', () => {
  expect(readRefNames(announced(`${'0'.repeat(40)} capabilities^{}\0side-band-64k\n`))).toEqual(new Set());
});

it.each(['<html></html>', '', 'ffff', '0000'])('takes %o for no Git server', (text) => {
  expect(readRefNames(Buffer.from(text))).toBeNull();
});

it('reads what is there of an announcement that was cut', () => {
  const whole = announced(`${HASH} HEAD\0x\n`, `${HASH} refs/heads/main\n`);
  expect(readRefNames(whole.subarray(0, 110))?.has('HEAD')).toBe(true);
});

it('begins at a branch, else at a tag, and without a name where the repository points', () => {
  const refs = new Set(['refs/heads/main', 'refs/tags/v1']);
  expect([hasStart(refs, 'main'), hasStart(refs, 'v1'), hasStart(refs, 'x')]).toEqual([true, true, false]);
  expect(hasStart(refs, null)).toBe(false);
  expect(hasStart(new Set(['HEAD', ...refs]), null)).toBe(true);
  expect(branchesOf(refs)).toEqual(['main', 'v1']);
});
