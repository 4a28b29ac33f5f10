/**
 * A program of ours where a daemon of containers finds it: in the data directory, which both see under one path. Parley
 * may itself run in a container, whose own files the daemon cannot bind; and a sandbox that outlives an upgrade keeps
 * the program that it began with.
 * Owns the copy, by content; a few megabytes for each build that ran here.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { Places } from './places.ts';

/** What V8 has compiled of a program lies beside it (scripts/keep-compiled.js). */
const COMPILED_SUFFIX = '.compiled';

/** Its path there; a program that lies there already stays where it is. */
export function sharedProgram(program: string, { dataDir }: Pick<Places, 'dataDir'>): string {
  const folder = join(dataDir, 'programs');
  if (program.startsWith(`${folder}/`)) return program;
  const text = readFileSync(program);
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const extension = extname(program);
  const target = join(folder, `${basename(program, extension)}-${mark}${extension}`);
  mkdirSync(folder, { recursive: true });
  // First what stands beside it: whoever sees the program sees both.
  const compiled = `${program}${COMPILED_SUFFIX}`;
  if (existsSync(compiled)) put(`${target}${COMPILED_SUFFIX}`, readFileSync(compiled));
  put(target, text);
  return target;
}

/** Written aside and renamed: a container that starts meanwhile binds all of it. */
function put(file: string, content: Buffer): void {
  if (existsSync(file) && readFileSync(file).equals(content)) return;
  const aside = `${file}.${process.pid}`;
  writeFileSync(aside, content, { mode: 0o644 });
  renameSync(aside, file);
}
