/**
 * Pieces of the files below examples/ in which a top-level key is written, for the reference.
 * Owns the cutting, from the line of the key to the next one at its depth; the shortest piece is taken.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A longer piece is a page of its own. */
const LINES_MAX = 24;

/** The same answer on every machine: files are read in the order of their names. */
export function exampleOf(kind: 'job' | 'scenario', key: string): string | null {
  const pieces = readdirSync('examples', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => readFileSync(path.join('examples', file), 'utf8'))
    .filter((text) => new RegExp(`^kind: ${kind}$`, 'm').test(text))
    .flatMap((text) => pieceOf(text, key) ?? []);
  return pieces.sort((a, b) => a.split('\n').length - b.split('\n').length)[0] ?? null;
}

function pieceOf(text: string, key: string): string | null {
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line.startsWith(`${key}:`));
  if (from === -1) return null;
  const length = lines.slice(from + 1).findIndex((line) => /^[^\s#-]/.test(line));
  const piece = lines.slice(from, length === -1 ? undefined : from + 1 + length);
  const written = piece
    .filter((line) => !/^#/.test(line))
    .join('\n')
    .trimEnd();
  return written.split('\n').length > LINES_MAX ? null : written;
}
