/**
 * A file that a command was asked to write beside its result.
 * Owns the write and its refusal; what stands in the file is its caller's business.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { CliError } from '../../host/cli-error.ts';
import { reasonOf } from '../../host/job/job-file.ts';
import { printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';

interface FileToWrite {
  /** In a word. */
  readonly what: string;
  readonly file: string;
  readonly text: string;
}

/** @throws CliError when it cannot be written */
export function writeOutput({ cwd, stderr }: Shell, { what, file, text }: FileToWrite): void {
  try {
    writeFileSync(path.resolve(cwd, file), text);
    stderr.write(`${what} written to ${printable(file)}\n`);
  } catch (error) {
    throw new CliError(`Cannot write the ${what} to "${file}": ${reasonOf(error)}`);
  }
}
