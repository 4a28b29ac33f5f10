/**
 * Who plays cases: a process of its own, or this one.
 * Owns sending a seed there and its summary back; what a case is belongs to simulator/campaign/.
 */
import { fork, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { runCase } from '../../simulator/campaign/run-case.ts';
import { summaryOf, type CaseSummary } from '../../simulator/campaign/tally.ts';
import { CliError } from '../../host/cli-error.ts';
import { EXIT } from '../../host/exit-code.ts';
import type { Shell } from '../../host/shell.ts';

export interface Player {
  /** One at a time. @throws CliError when the process behind it is gone */
  play(seed: number): Promise<CaseSummary>;
  close(): void;
}

export function playHere(seed: number): CaseSummary {
  return summaryOf(runCase({ seed }));
}

/** Plays in this process; lets timers and signals through between two cases. */
export function localPlayer(): Player {
  return {
    play: async (seed) => {
      await new Promise((resolve) => setImmediate(resolve));
      return playHere(seed);
    },
    close: () => undefined,
  };
}

/** Plays in a process of its own, which is this program once more with `--worker`. */
export function processPlayer({ programDir }: Shell): Player {
  const child = fork(path.join(programDir, 'parley.js'), ['campaign', '--worker'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return {
    play: (seed) => ask(child, seed),
    close: () => {
      if (child.connected) child.disconnect();
    },
  };
}

function ask(child: ChildProcess, seed: number): Promise<CaseSummary> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      child.off('message', answered);
      child.off('exit', gone);
      child.off('error', gone);
      end();
    };
    const answered = (summary: unknown): void => settle(() => resolve(summary as CaseSummary));
    const gone = (): void =>
      settle(() =>
        reject(
          new CliError(`Cannot play seed ${seed}: the process that played it has ended`, {
            exitCode: EXIT.internal,
          }),
        ),
      );
    child.on('message', answered);
    child.on('exit', gone);
    child.on('error', gone);
    if (child.connected) child.send(seed);
    else gone();
  });
}

/** The other end: plays every seed that comes in, until the parent process disconnects. */
export function servePlays(): Promise<void> {
  // Ctrl-C reaches every process of a terminal; when to end is decided by the parent process.
  process.on('SIGINT', () => undefined);
  process.on('message', (seed: number) => process.send?.(playHere(seed)));
  return new Promise((resolve) => process.once('disconnect', () => resolve()));
}
