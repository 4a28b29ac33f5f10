/**
 * Finds a program on the path.
 * Plain JavaScript without a dependency: it runs beside the installation.
 */
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/**
 * The whole path of `name`; null when it is nowhere on the path of `env`.
 * @type {(name: string, env: NodeJS.ProcessEnv) => string | null}
 */
export function onPath(name, env) {
  const folders = (env.PATH ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => path.join(folder, name)).find(isProgram) ?? null;
}

export function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
