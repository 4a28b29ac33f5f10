/**
 * Text files as the editor sees them. Owns the checks of paths, sizes and encoding, and how excerpts are shown.
 */
import { readdir, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';

import { EDITOR_DIRECTORY_ENTRIES_MAX, EDITOR_FILE_BYTES_MAX } from '../limits.ts';
import { readReachable, writeReachable } from '../tool-files.ts';

/** A refusal the model can mend; its message is the tool's answer. */
export class EditorRefusal extends Error {}

type PathKind = 'file' | 'directory' | 'missing';

/** @throws EditorRefusal the path is not absolute, or is neither file nor directory */
export async function kindOfPath(path: string, workingDir: string): Promise<PathKind> {
  if (!isAbsolute(path)) {
    const suggestion = resolve(workingDir, path);
    throw new EditorRefusal(`The path ${path} is not absolute. Maybe you meant ${suggestion}?`);
  }
  const found = await stat(path).catch(() => null);
  if (found === null) return 'missing';
  if (found.isDirectory()) return 'directory';
  if (!found.isFile()) throw new EditorRefusal(`The path ${path} is not a regular file.`);
  return 'file';
}

/** @throws EditorRefusal the file is missing, a directory, too large, or not UTF-8 text */
export async function readTextFile(path: string, workingDir: string): Promise<string> {
  const kind = await kindOfPath(path, workingDir);
  if (kind === 'missing') throw new EditorRefusal(`The path ${path} does not exist.`);
  if (kind === 'directory')
    throw new EditorRefusal(`The path ${path} is a directory; it can only be viewed.`);
  const { size } = await stat(path);
  if (size > EDITOR_FILE_BYTES_MAX) {
    throw new EditorRefusal(
      `The file ${path} has ${size} bytes, more than the editor takes. Use the terminal.`,
    );
  }
  const bytes = await readReachable(path);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Told below: a file with NUL characters is refused for the same reason.
  }
  throw new EditorRefusal(`The file ${path} is not UTF-8 text. Use the terminal.`);
}

/** Writes in place, so that mode, owner and links stay; makes missing parent directories. */
export async function writeTextFile(path: string, text: string): Promise<void> {
  await writeReachable(path, text);
}

/** Lines with their numbers, the first one being `firstLine`. */
export function numberedLines(lines: readonly string[], firstLine: number): string {
  return lines.map((line, index) => `${String(firstLine + index).padStart(6)}\t${line}`).join('\n');
}

/** Entries two levels deep, hidden ones left out; directories end with a slash. */
export async function describeDirectory(path: string): Promise<string> {
  const lines: string[] = [];
  let hidden = 0;
  const visit = async (directory: string, depth: number): Promise<void> => {
    const entries = await readdir(directory, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.')) {
        if (depth === 1) hidden += 1;
        continue;
      }
      if (lines.length >= EDITOR_DIRECTORY_ENTRIES_MAX) return;
      const full = join(directory, entry.name);
      lines.push(entry.isDirectory() ? `${full}/` : full);
      if (entry.isDirectory() && depth < 2) await visit(full, depth + 1).catch(() => undefined);
    }
  };
  await visit(path, 1);
  const cut = lines.length >= EDITOR_DIRECTORY_ENTRIES_MAX ? '\n[... more entries were left out ...]' : '';
  const note = hidden > 0 ? `\n${hidden} hidden entries are not listed.` : '';
  return `Files and directories up to two levels deep in ${path}, hidden ones left out:\n${lines.join('\n')}${cut}${note}`;
}
