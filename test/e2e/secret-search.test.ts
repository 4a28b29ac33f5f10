/** The search that finds no secret finds one wherever it is planted. */
import { execFileSync } from 'node:child_process';
import Database from 'libsql';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { create } from 'tar';
import { describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { tempDir } from '../helpers/temp-dir.ts';
import { TOKEN } from './batch-copy.ts';
import { secretForms } from './secret-forms.ts';
import { findForms } from './secret-search.ts';

const FORMS = secretForms(TOKEN);

describe('findForms()', () => {
  it.each([
    ['raw', TOKEN],
    ['base64', Buffer.from(`:${TOKEN}.`).toString('base64')],
    ['base64 at another place', Buffer.from(`user:${TOKEN}`).toString('base64')],
    ['base64url', Buffer.from(`ab${TOKEN}`).toString('base64url')],
    ['URL-encoded', `https://x.example.com/?t=${encodeURIComponent(TOKEN)}`],
    ['inside JSON', JSON.stringify({ token: TOKEN })],
  ])('finds it %s', async (_name, text) => {
    const folder = tempDir();
    writeFileSync(path.join(folder, 'a.log'), `before ${text} after`);
    expect(await findForms(folder, FORMS)).toEqual([path.join(folder, 'a.log')]);
  });

  it('finds it in archives, in objects of a repository in an archive, and in a database', async () => {
    const folder = tempDir();
    const inner = path.join(folder, 'inner');
    mkdirSync(inner);
    writeFileSync(path.join(inner, 'file.txt'), TOKEN);
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: inner, stdio: 'pipe' });
    git('init', '--quiet');
    git('add', 'file.txt');
    await create({ file: path.join(folder, 'w.tgz'), cwd: inner, gzip: true }, ['.git']);
    const zip = new ZipFile();
    zip.addBuffer(Buffer.from(TOKEN), 'event.json');
    zip.end();
    await pipeline(zip.outputStream, createWriteStream(path.join(folder, 't.zip')));
    const database = new Database(path.join(folder, 'p.db'));
    database.exec('create table t (a text)');
    database.prepare('insert into t values (?)').run(`${'x'.repeat(4070)}${TOKEN}`);
    database.close();
    const found = (await findForms(folder, FORMS)).join('\n');
    expect(found).toMatch(/inner\/\.git\/objects\/.*!object/);
    expect(found).toMatch(/w\.tgz!\.git\/objects\/.*!object/);
    expect(found).toContain('t.zip!event.json');
    expect(found).toContain('p.db!rows');
  });

  it('finds nothing where there is nothing', async () => {
    const folder = tempDir();
    writeFileSync(path.join(folder, 'a.log'), 'planted');
    expect(await findForms(folder, FORMS)).toEqual([]);
  });
});
