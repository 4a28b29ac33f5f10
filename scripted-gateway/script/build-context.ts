// What the builders of a script share: the file as read, where its values stand, and how to note a problem.
// Types only.

import type { ScriptFile } from './script-schema.ts';
import type { ValuePath, YamlSource } from './yaml-source.ts';

/** Reads a file named in arguments, by its path joined to the script's folder; throws when it cannot. */
export type ReadFile = (path: string) => string;

/** Notes a problem at a path of the file. */
export type Report = (path: ValuePath, message: string) => void;

/** A well-shaped file and its surroundings. */
export interface BuildContext {
  readonly file: ScriptFile;
  readonly path: string;
  readonly source: YamlSource;
  readonly readFile: ReadFile;
}
