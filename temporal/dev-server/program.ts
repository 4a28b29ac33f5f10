/**
 * Whether a file is a program that can be started, and the variables by which programs are looked for.
 * Owns the asking; must not start anything.
 */
import { accessSync, constants, statSync } from 'node:fs';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Whether a file is there and may be executed. */
export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
