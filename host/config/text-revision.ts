/**
 * The name of a text of the configuration: the same text has the same name in every process.
 * Owns how it is made; must not read a file.
 */
import { createHash } from 'node:crypto';

/** 64 hex digits; that of the empty text stands for no file, too. */
export function revisionOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
