/**
 * Which user of the host the tools of a container, and all its files, belong to.
 * Owns the choice: never root. Root's own files stay closed to a container that got out, so where Parley runs as root
 * it is a user without a name; an ordinary user can own nothing but what is its own, so it is that user.
 */
import type { ToolsUser } from '../on-host/tools-user.ts';

/** Without a name on any host, and the number that images of agent servers use. */
const NOBODY_IN_PARTICULAR = 10_001;
const ROOT = 0;

export function containerUser(): ToolsUser {
  const uid = process.getuid?.() ?? ROOT;
  if (uid === ROOT) return { uid: NOBODY_IN_PARTICULAR, gid: NOBODY_IN_PARTICULAR };
  return { uid, gid: process.getgid?.() ?? uid };
}
