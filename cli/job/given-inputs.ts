/**
 * Values for the inputs of a job: `--input NAME=VALUE`, and a file of values.
 * Owns how they are typed and read; whether they fit is the compiler's business.
 */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { GivenInputs } from '../../dsl/world.ts';
import { CliError } from '../../host/cli-error.ts';
import { reasonOf } from '../../host/job/job-file.ts';
import type { Shell } from '../../host/shell.ts';

/** As commander gives them. */
export interface InputOptions {
  readonly input?: readonly string[];
  readonly inputs?: string;
}

/** Parameters that people write; more is data, which belongs into a file of rows. */
const FILE_BYTES_MAX = 1024 * 1024;

/** @throws CliError for what is no NAME=VALUE, and for a file that is no map */
export function givenInputs(shell: Pick<Shell, 'cwd'>, { input, inputs }: InputOptions): GivenInputs {
  return {
    typed: Object.fromEntries((input ?? []).map(parsePair)),
    values: inputs === undefined ? {} : readValues(path.resolve(shell.cwd, inputs), inputs),
  };
}

/** A saved plan is run as it is. @throws CliError when values are given for one */
export function refuseInputs(file: string, { input, inputs }: InputOptions): void {
  if (input === undefined && inputs === undefined) return;
  throw new CliError(`Cannot give inputs to "${file}": a saved plan has the values it was made with`, {
    remedy: 'plan the job file again with the new values',
  });
}

function parsePair(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new CliError(`Cannot use --input "${text}": it is not NAME=VALUE`);
}

function readValues(file: string, shown: string): Readonly<Record<string, unknown>> {
  const value = readYaml(file, shown);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw unusable(shown, 'it is not a map of names to values');
}

function readYaml(file: string, shown: string): unknown {
  try {
    if (statSync(file).size > FILE_BYTES_MAX) throw unusable(shown, 'it is larger than 1 MiB');
    return parse(readFileSync(file, 'utf8')) as unknown;
  } catch (error) {
    if (error instanceof CliError) throw error;
    const isYaml = error instanceof Error && error.name === 'YAMLParseError';
    throw unusable(shown, isYaml ? 'it is neither YAML nor JSON' : reasonOf(error));
  }
}

function unusable(file: string, reason: string): CliError {
  return new CliError(`Cannot use --inputs "${file}": ${reason}`);
}
