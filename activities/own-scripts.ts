/**
 * Which scripts of its own a repository brings for the start, as found while it was prepared.
 * Owns that memory, so that later steps call the sandbox only where there is something to do. Another worker, or this
 * one after a restart, has no entry and calls the sandbox: a missing entry never means that there is no script.
 */
import type { ConversationId } from '../core/ids.ts';
import { quoted } from '../core/text/shell-word.ts';
import type { World } from './world.ts';

export const SETUP_SCRIPT = '.openhands/setup.sh';
export const HOOK_SCRIPT = '.openhands/pre-commit.sh';
const SCRIPTS = [SETUP_SCRIPT, HOOK_SCRIPT] as const;
export type OwnScript = (typeof SCRIPTS)[number];

/** Concurrent starts; for a forgotten conversation the sandbox is only called again. */
const KNOWN_MAX = 1_000;
/** Begins the line of the answer; only a complete check prints it. */
const MARK = 'own scripts:';

const knownOf = new WeakMap<World['workspaces'], Map<ConversationId, ReadonlySet<string>>>();

/** A line of a shell script that prints which of them are below `dir`. */
export function lookForScripts(dir: string): string {
  const words = SCRIPTS.map(quoted).join(' ');
  return `printf '%s' ${quoted(MARK)}; for f in ${words}; do if [ -f ${quoted(dir)}/"$f" ]; then printf ' %s' "$f"; fi; done; echo`;
}

/** Keeps what that line printed, if it did. */
export function noteScripts(world: World, conversationId: ConversationId, stdout: string): void {
  const line = stdout.split('\n').find((one) => one.startsWith(MARK));
  forgetScripts(world, conversationId);
  if (line === undefined) return;
  const known = knownOf.get(world.workspaces) ?? new Map<ConversationId, ReadonlySet<string>>();
  knownOf.set(world.workspaces, known);
  known.set(conversationId, new Set(line.slice(MARK.length).trim().split(' ')));
  const [oldest] = known.keys();
  if (oldest !== undefined && known.size > KNOWN_MAX) known.delete(oldest);
}

/** True only when the repository was checked and brings none of them. */
export function bringsNone(
  world: World,
  conversationId: ConversationId,
  scripts: readonly OwnScript[],
): boolean {
  const brought = knownOf.get(world.workspaces)?.get(conversationId);
  return brought !== undefined && !scripts.some((script) => brought.has(script));
}

/** For when the entry no longer holds. */
export function forgetScripts(world: World, conversationId: ConversationId): void {
  knownOf.get(world.workspaces)?.delete(conversationId);
}
