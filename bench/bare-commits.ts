/**
 * The bare limit: one-row transactions with full sync on the same disk, without anything of ours.
 * Owns nothing else.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';

const COMMITS = 2_000;

export function bareCommitsPerSecond(): number {
  const folder = mkdtempSync(join(tmpdir(), 'parley-bare-'));
  const database = new Database(join(folder, 'bare.db'));
  database.exec('pragma journal_mode = wal; pragma synchronous = full; create table bare (id integer primary key, text text)');
  const insert = database.prepare('insert into bare (text) values (?)');
  const from = process.hrtime.bigint();
  for (let i = 0; i < COMMITS; i += 1) insert.run(`row ${i}`);
  const seconds = Number(process.hrtime.bigint() - from) / 1e9;
  database.close();
  rmSync(folder, { recursive: true });
  return COMMITS / seconds;
}
