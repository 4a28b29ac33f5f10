/**
 * A search for a secret in every file of a folder, and in what the files hold: archives, Git objects, databases.
 * Owns the unpacking; must not change a file.
 */
import Database from 'libsql';
import { readdirSync, readFileSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import path from 'node:path';
import { gunzipSync, inflateSync } from 'node:zlib';
import { Parser } from 'tar';
import { formIn } from './secret-forms.ts';
import { readZip } from './zip-file.ts';

interface Content {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Names of what holds one of the forms; for a file in an archive, both names. */
export async function findForms(folder: string, forms: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const file of filesOf(folder)) {
    const bytes = readOrEmpty(file);
    for (const content of [{ name: file, bytes }, ...(await inside({ name: file, bytes }))]) {
      if (formIn(content.bytes, forms) !== null || formIn(Buffer.from(content.name), forms) !== null)
        found.push(content.name);
    }
  }
  return found;
}

/** Links are not followed: what they lead to is none of the folder's. */
function filesOf(folder: string): readonly string[] {
  return entriesOf(folder).flatMap((entry) => {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) return filesOf(place);
    return entry.isFile() ? [place] : [];
  });
}

/** A folder of a batch at work may go at any time. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** So may a file. */
function readOrEmpty(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}

async function inside(content: Content): Promise<readonly Content[]> {
  const parts = await partsOf(content);
  const deeper = await Promise.all(parts.map(inside));
  return [...parts, ...deeper.flat()];
}

async function partsOf({ name, bytes }: Content): Promise<readonly Content[]> {
  if (name.endsWith('.zip')) {
    return (await readZip(bytes)).map((entry) => ({ name: `${name}!${entry.name}`, bytes: entry.content }));
  }
  if (name.endsWith('.tgz')) return tarEntries(name, gunzipSync(bytes));
  if (name.endsWith('.db')) return [{ name: `${name}!rows`, bytes: rowsOf(name) }];
  if (/\/objects\/[0-9a-f]{2}\/[0-9a-f]{38}$/.test(name))
    return [{ name: `${name}!object`, bytes: inflated(bytes) }];
  return [];
}

/** A Git object that is being written is no object yet. */
function inflated(bytes: Buffer): Buffer {
  try {
    return inflateSync(bytes);
  } catch {
    return Buffer.alloc(0);
  }
}

async function tarEntries(name: string, bytes: Buffer): Promise<readonly Content[]> {
  const entries: Content[] = [];
  await new Promise<void>((resolve, reject) => {
    const parser = new Parser({
      onReadEntry: (entry) => {
        const chunks: Buffer[] = [];
        entry.on('data', (chunk) => chunks.push(chunk));
        entry.on('end', () => entries.push({ name: `${name}!${entry.path}`, bytes: Buffer.concat(chunks) }));
      },
    });
    parser.on('end', resolve);
    parser.on('error', reject);
    parser.end(bytes);
  });
  return entries;
}

/** All values of all tables as text: a value in a file may be cut by a page's end. */
function rowsOf(file: string): Buffer {
  const database = new Database(file, { readonly: true } as Database.Options);
  try {
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all() as {
      name: string;
    }[];
    const values = tables.flatMap(({ name }) =>
      (database.prepare(`select * from "${name}"`).all() as object[]).flatMap(Object.values),
    );
    return Buffer.concat(
      values.map((value: unknown) => (Buffer.isBuffer(value) ? value : Buffer.from(`${String(value)}\n`))),
    );
  } finally {
    database.close();
  }
}
