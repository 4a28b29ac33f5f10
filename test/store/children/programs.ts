/** The programs that tests run as processes of their own, by name; a built file holds all of them. */
import { runLockHolder } from './lock-holder.ts';
import { runOpener } from './opener.ts';
import { runPlacer } from './placer.ts';
import { runWriter } from './writer.ts';

export type ProgramName = 'lock-holder' | 'opener' | 'placer' | 'writer';

const PROGRAMS: Readonly<Record<ProgramName, (args: readonly string[]) => Promise<void>>> = {
  'lock-holder': runLockHolder,
  opener: runOpener,
  placer: runPlacer,
  writer: runWriter,
};

/** Runs the program that the first argument names with the others. */
export async function runProgram(args: readonly string[]): Promise<void> {
  const [name, ...others] = args;
  await PROGRAMS[name as ProgramName](others);
}
