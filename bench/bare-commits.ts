/**
 * The bare limit: one-row transactions with full sync on the same disk, without anything of ours.
 * Owns nothing else.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';

/** A slow disk needs no more for a steady figure, and a fast one has measured long enough. */
const COMMITS = 1_000;

/** One-row commits per second in a file of `dir`. */
export function bareCommitsPerSecond(dir: string): number {
  const folder = mkdtempSync(join(dir, 'parley-bare-'));
  const database = new Database(join(folder, 'bare.db'));
  database.exec(
    'pragma journal_mode = wal; pragma synchronous = full; create table bare (id integer primary key, text text)',
  );
  const insert = database.prepare('insert into bare (text) values (?)');
  const from = process.hrtime.bigint();
  for (let i = 0; i < COMMITS; i += 1) insert.run(`row ${i}`);
  const seconds = Number(process.hrtime.bigint() - from) / 1e9;
  database.close();
  rmSync(folder, { recursive: true });
  return COMMITS / seconds;
}
