/**
 * A process that is another user than the tools it starts, in a container that begins as root without any right but to
 * change users, to signal, and to keep these from what it starts. It stays that root, so that no tool can signal, trace
 * or schedule it, and touches files as the tools' user, so that what both make belongs to one. Folders that only it may
 * enter have a group of their own.
 * Owns taking this on; must run before the first background access to files.
 */
import { chmodSync, chownSync, readFileSync } from 'node:fs';
import { loadObject } from './guard.ts';

const ROOT = 0;
/** As the system writes it. */
const NO_RIGHTS = '0'.repeat(16);
/** Entered by processes of the group, listed by root alone. */
const DOOR_MODE = 0o710;

export interface OtherUser {
  /** Of the tools. */
  readonly uid: number;
  readonly gid: number;
  /** The group that the folders below open for. */
  readonly group: number;
  /**
   * Makes the kernel take that user for files, and keeps every right from what is started from then on: of the thread that
   * loads it and of those that it starts.
   */
  readonly object: string;
  /** Folders of root that hold what is kept from tools. */
  readonly doors: readonly string[];
}

/** @throws Error the system refuses it: then nothing must be started */
export function openDoors({ group, doors }: OtherUser): void {
  process.setgroups?.([group]);
  for (const door of doors) {
    chownSync(door, ROOT, group);
    chmodSync(door, DOOR_MODE);
  }
}

/** What has to begin as root is started before. @throws Error the system refuses it: then nothing must be started */
export function takeOn({ uid, gid, group, object }: OtherUser): void {
  process.setgroups?.([group]);
  process.setgid?.(gid);
  loadObject(object);
  const status = readFileSync('/proc/self/status', 'utf8');
  const told = [/^Uid:\s+(.+)$/m, /^CapBnd:\s+(.+)$/m].map((line) => line.exec(status)?.[1]);
  const wanted = [[ROOT, ROOT, ROOT, uid].join('\t'), NO_RIGHTS];
  if (told.join() === wanted.join()) return;
  throw new Error(`Cannot take on the user of the tools: the system tells "${told.join(', ')}"`);
}
