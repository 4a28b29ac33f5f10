/** `parley key` in memory streams, on a real store: a key is shown once, listed without its text, and revoked. */
import { describe, expect, it } from 'vitest';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell, recordsOf, runToEnd } from './fake-shell.ts';

describe('parley key', () => {
  it('creates, lists and revokes', async () => {
    const cwd = tempDir();
    const run = async (...args: string[]) => {
      const shell = fakeShell({ cwd });
      const code = await runToEnd(shell, ['key', ...args, '--json']);
      return { code, records: recordsOf(shell), text: shell.stdout.text, said: shell.stderr.text };
    };
    const made = await run('create', '--scope', 'admin', '--name', 'console');
    expect(made.code).toBe(0);
    const [, record] = made.records;
    expect(record).toMatchObject({ type: 'key', user: 'local', name: 'console', scope: 'admin' });
    const key = String(record?.['key']);
    expect(key).toMatch(/^pa-/);
    const listed = await run('list');
    expect(listed.records[1]).toMatchObject({ id: record?.['id'], name: 'console' });
    expect(listed.text).not.toContain(key);
    expect((await run('revoke', String(record?.['id']))).code).toBe(0);
    const again = await run('revoke', String(record?.['id']));
    expect([again.code, again.text.includes('Cannot find the key')]).toEqual([2, true]);
    expect((await run('create', '--expires', 'soon')).code).toBe(2);
  });
});
