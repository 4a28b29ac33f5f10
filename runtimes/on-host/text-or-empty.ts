/**
 * A small file of the kernel, as text.
 * Owns that one which is not there, or not to be read, says nothing: what it tells of has gone.
 */
import { readFile } from 'node:fs/promises';

export async function textOrEmpty(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch(() => '');
}
