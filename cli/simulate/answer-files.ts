/**
 * The files that one play is to leave: its trace, and a page.
 * Owns the collecting of trace lines until the play is over; a play that fails leaves no file.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { CliError } from '../../host/cli-error.ts';
import { reasonOf } from '../../host/job/job-file.ts';
import { printable } from '../../host/terminal-text.ts';
import { planPage, type PlanPage } from '../../simulator/views/plan-page.ts';
import type { Shell } from '../../host/shell.ts';
import type { PlayExtras } from './play-request.ts';

export interface AnswerFilesOptions {
  /** Paths; undefined leaves no such file. */
  readonly trace: string | undefined;
  readonly html: string | undefined;
  /** Records need the curves, too. */
  readonly json: boolean;
}

export interface AnswerFiles {
  /** What the play must record, so that there is something to write. */
  readonly extras: PlayExtras;
  /** @throws CliError when a file cannot be written */
  write(page: PlanPage): void;
}

export function answerFiles(shell: Shell, { trace, html, json }: AnswerFilesOptions): AnswerFiles {
  const lines: string[] = [];
  const onTraceLine = (line: string): void => void lines.push(`${line}\n`);
  return {
    extras: { curves: json || html !== undefined, ...(trace === undefined ? {} : { onTraceLine }) },
    write(page) {
      if (trace !== undefined) writeOutput(shell, { what: 'trace', file: trace, text: lines.join('') });
      if (html !== undefined) writeOutput(shell, { what: 'page', file: html, text: planPage(page) });
    },
  };
}

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
