/**
 * Folders of proxies in one data directory: each has its own, with its spool, and holds it for as long as it lives.
 * Owns whose a folder is; where the store is a file, there is one proxy and one folder.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { ParleyError } from '../../core/parley-error.ts';
import { lockDataDirectory, type DataDirectoryLock } from '../../store/engine/data-directory-lock.ts';

export interface ProxyFolder {
  readonly path: string;
  release(): void;
}

/** More proxies than an operator runs on one host; each takes a processor. */
const FOLDERS_MAX = 64;

/** The first free one. @throws ParleyError data_directory_locked when another proxy has the only one */
export function takeProxyFolder(
  dataDir: string,
  options: { readonly startedAt: number; readonly isShared: boolean },
): ProxyFolder {
  const { startedAt, isShared } = options;
  if (!isShared)
    return heldFolder(folderOf(dataDir, 1), lockDataDirectory(folderOf(dataDir, 1), { startedAt }));
  for (let number = 1; number < FOLDERS_MAX; number += 1) {
    const folder = tryFolder(folderOf(dataDir, number), startedAt);
    if (folder !== null) return folder;
  }
  const last = folderOf(dataDir, FOLDERS_MAX);
  return heldFolder(last, lockDataDirectory(last, { startedAt }));
}

/** Folders with rows in their spool whose proxy is gone; each is held until it is released. */
export function* orphanFolders(dataDir: string, startedAt: number): Generator<ProxyFolder> {
  for (let number = 1; number <= FOLDERS_MAX; number += 1) {
    const folder = folderOf(dataDir, number);
    if (!hasRows(spoolOf(folder))) continue;
    const taken = tryFolder(folder, startedAt);
    if (taken !== null) yield taken;
  }
}

export function spoolOf(folder: string): string {
  return path.join(folder, 'spool');
}

function folderOf(dataDir: string, number: number): string {
  return path.join(dataDir, number === 1 ? 'proxy' : `proxy-${number}`);
}

function hasRows(spool: string): boolean {
  return existsSync(spool) && readdirSync(spool).length > 0;
}

/** Null when another proxy has it. */
function tryFolder(folder: string, startedAt: number): ProxyFolder | null {
  try {
    return heldFolder(folder, lockDataDirectory(folder, { startedAt, isPatient: false }));
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'data_directory_locked') return null;
    throw error;
  }
}

function heldFolder(folder: string, lock: DataDirectoryLock): ProxyFolder {
  return { path: folder, release: () => lock.release() };
}
