/**
 * Archives of trees that resist being archived.
 */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { extract } from 'tar';
import { describe, expect, it } from 'vitest';
import { walkTree } from '../../runtimes/workspace-archive/anchored-walk.ts';
import { exportDirectory } from '../../runtimes/workspace-archive/export-directory.ts';
import { NOTES_MEMBER, tarMembers } from '../../runtimes/workspace-archive/tar-members.ts';
import { tempDir } from '../helpers/temp-dir.ts';

async function unpack(source: string): Promise<string> {
  const target = mkdtempSync(path.join(tempDir(), 'out-'));
  await pipeline(
    Readable.from(exportDirectory(source)),
    extract({ cwd: target, preservePaths: true, strict: true }),
  );
  return target;
}

describe('exportDirectory()', () => {
  it('keeps long names, modes and empty directories', async () => {
    const source = tempDir();
    const long = path.join('a'.repeat(200), 'ü'.repeat(100), 'c'.repeat(200));
    mkdirSync(path.join(source, long), { recursive: true });
    writeFileSync(path.join(source, long, 'file'), 'deep', { mode: 0o755 });
    symlinkSync('x'.repeat(300), path.join(source, 'link'));
    mkdirSync(path.join(source, 'empty'));
    const target = await unpack(source);
    execFileSync('diff', ['-r', '--no-dereference', source, target]);
    expect(execFileSync('find', [target, '-name', 'file', '-printf', '%m'], { encoding: 'utf8' })).toBe(
      '755',
    );
  });

  it('notes what it cannot take, and takes the rest', async () => {
    const source = tempDir();
    writeFileSync(Buffer.concat([Buffer.from(`${source}/bad-`), Buffer.from([0xff])]), 'x');
    mkdirSync(path.join(source, ...Array.from({ length: 140 }, () => 'd')), { recursive: true });
    writeFileSync(path.join(source, 'good'), 'y');
    const target = await unpack(source);
    expect(readFileSync(path.join(target, 'good'), 'utf8')).toBe('y');
    const notes = readFileSync(path.join(target, NOTES_MEMBER), 'utf8');
    expect(notes).toContain('the name is not UTF-8');
    expect(notes).toContain('deeper than 128');
  });

  it('leaves out what is nearly all holes, and says so, within seconds', async () => {
    const source = tempDir();
    for (const name of ['a', 'b']) {
      writeFileSync(path.join(source, name), '');
      truncateSync(path.join(source, name), 2 ** 43);
    }
    writeFileSync(path.join(source, 'small'), 'x');
    truncateSync(path.join(source, 'small'), 1_000_000);
    const target = await unpack(source);
    expect(readFileSync(path.join(target, 'small'))).toHaveLength(1_000_000);
    const notes = readFileSync(path.join(target, NOTES_MEMBER), 'utf8').trim().split('\n');
    expect(notes).toEqual(
      ['a', 'b'].map((name) => expect.stringContaining(`${name}: left out: 8796093022208`)),
    );
  });

  it('stays a whole archive when a file shrinks while it is read', async () => {
    const source = tempDir();
    writeFileSync(path.join(source, 'shrinking'), Buffer.alloc(2_000_000, 1));
    const bytes: Uint8Array[] = [];
    for await (const chunk of tarMembers(walkTree(source))) {
      if (bytes.length === 1) truncateSync(path.join(source, 'shrinking'), 300_000);
      bytes.push(chunk);
    }
    const target = tempDir();
    await pipeline(Readable.from(bytes), extract({ cwd: target, strict: true }));
    expect(readFileSync(path.join(target, 'shrinking')).length).toBe(2_000_000);
    expect(readFileSync(path.join(target, NOTES_MEMBER), 'utf8')).toContain('shrinking: became shorter');
  });

  it('does not follow a link that takes the place of a directory in the middle of the walk', async () => {
    const source = tempDir();
    const outside = tempDir();
    writeFileSync(path.join(outside, 'b'), 'secret of the host');
    for (const name of ['a', 'b']) {
      mkdirSync(path.join(source, 'dir'), { recursive: true });
      writeFileSync(path.join(source, 'dir', name), 'own');
    }
    const found: string[] = [];
    for await (const entry of walkTree(source)) {
      found.push(`${entry.kind} ${entry.path}`);
      if (entry.path === 'dir/a') {
        renameSync(path.join(source, 'dir'), path.join(source, 'moved'));
        symlinkSync(outside, path.join(source, 'dir'));
      }
      if (entry.kind === 'file') expect((await entry.file.readFile('utf8')).trim()).toBe('own');
    }
    expect(found).toEqual(['directory dir', 'file dir/a', 'file dir/b']);
  });

  it('tells a directory that cannot be read', async () => {
    const source = tempDir();
    rmSync(source, { recursive: true });
    await expect(unpack(source)).rejects.toMatchObject({ code: 'workspace_unreadable' });
  });
});
