/**
 * Which files `parley test` plays: those that are named, and every scenario below the folders that are named.
 * Owns the walk and its bounds; whether a file is a good scenario is its compiler's business.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { CliError } from '../../host/cli-error.ts';
import { reasonOf } from '../../host/job/job-file.ts';
import { saysScenario } from '../simulate/document-kind.ts';

/** A folder with more files is no folder of tests: somebody named the wrong one. */
const FILES_MAX = 10_000;
/** A larger file is data; a scenario is written by hand. */
const BYTES_MAX = 10 * 1024 * 1024;
const SCENARIO_NAME = /\.scenario\.ya?ml$/;
const YAML_NAME = /\.ya?ml$/;

/** Paths as typed, or below what was typed; sorted within each, without repeats. @throws CliError when one cannot be read */
export function findScenarios(cwd: string, named: readonly string[]): readonly string[] {
  const found = named.flatMap((name) => scenariosAt(cwd, name));
  return [...new Set(found)];
}

function scenariosAt(cwd: string, name: string): string[] {
  try {
    return statSync(path.resolve(cwd, name)).isDirectory() ? below(cwd, name) : [name];
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`Cannot test "${name}": ${reasonOf(error)}`, {
      remedy: 'name scenario files, or folders that hold some',
    });
  }
}

function below(cwd: string, folder: string): string[] {
  const absolute = path.resolve(cwd, folder);
  const names = walk(absolute).sort();
  return names
    .filter((name) => SCENARIO_NAME.test(name) || (YAML_NAME.test(name) && holdsScenario(name)))
    .map((name) => path.join(folder, path.relative(absolute, name)));
}

/** Folders that begin with a dot, and installed packages, hold nobody's own tests. */
function walk(root: string): string[] {
  const files: string[] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const name = path.join(folder, entry.name);
      if (entry.isFile()) files.push(name);
      if (files.length > FILES_MAX)
        throw new CliError(`Cannot test "${root}": it holds more than ${FILES_MAX} files`);
      if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
        folders.push(name);
    }
  }
  return files;
}

function holdsScenario(file: string): boolean {
  return statSync(file).size <= BYTES_MAX && saysScenario(readFileSync(file, 'utf8'));
}
