/**
 * The files that one play is asked to leave: its trace, and a page.
 * Owns the collecting of trace lines until the play is over; a play that fails leaves no file.
 */
import { planPage, type PlanPage } from '../../simulator/views/plan-page.ts';
import type { Shell } from '../../host/shell.ts';
import type { PlayExtras } from './play-request.ts';
import { writeOutput } from './write-output.ts';

export interface AnswerFilesOptions {
  /** Paths; undefined leaves no such file. */
  readonly trace: string | undefined;
  readonly html: string | undefined;
  /** Records need the curves, too. */
  readonly json: boolean;
}

export interface AnswerFiles {
  /** What the play must be told, so that there is something to write. */
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
