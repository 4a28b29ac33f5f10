/**
 * Programs that an ended conversation left running in a sandbox that the next one gets: they could answer in its place.
 * Owns when they are ended, and the shell text that ends them. Where a conversation may still use what runs there,
 * nothing is ended: conversations that share a sandbox share its processes.
 */
import { isAtWork } from '../core/sandbox/at-work.ts';
import type { ConversationId, SandboxId } from '../core/ids.ts';
import type { ConversationRow } from '../core/machine/projection.ts';
import type { World } from './world.ts';

/** A process may start others faster than it is ended; the limit on processes ends this race. */
const ROUNDS_MAX = 20;

/**
 * Ends every process but the shell that runs this and those it descends from, which are the Agent Server and the first
 * ones of the sandbox, where tools have no place of their own. Only where the first process is a sandbox's, that of such a
 * place, or what a node begins a pod with, whose processes see each other: on a host it would end everything.
 */
export const END_OTHERS = `
read -r first < /proc/1/cmdline || :
case "$first" in *sandbox-init.cjs*|*parley-toolbox*|/pause|/usr/bin/pod)
  keep=" 1 $$ " one=$$
  while [ "$one" -gt 1 ]; do
    parent=1
    while read -r name value rest; do if [ "$name" = PPid: ]; then parent=$value; break; fi; done < "/proc/$one/status"
    one=$parent keep="$keep$one "
  done
  round=0
  while [ "$round" -lt ${ROUNDS_MAX} ]; do
    found=
    for folder in /proc/[0-9]*; do
      one=\${folder#/proc/}
      case "$keep" in *" $one "*) ;; *) if kill -9 "$one" 2>/dev/null; then found=1; fi ;; esac
    done
    if [ -z "$found" ]; then break; fi
    round=$((round + 1))
  done ;;
esac`;

/** Shell text for the beginning of a conversation; empty where nothing may be ended. */
export async function endLeftovers(
  world: World,
  { sandboxId, conversationId }: { readonly sandboxId: SandboxId; readonly conversationId: ConversationId },
): Promise<string> {
  // Without a process namespace the other processes are the host's.
  if (world.runtime.capabilities.isolation === 'none') return '';
  const rows = await world.records.conversations({ sandboxId });
  const others = rows.filter((row) => row.conversationId !== conversationId);
  const ended = await Promise.all(others.map((row) => hasEnded(world, row)));
  return ended.every(Boolean) ? END_OTHERS : '';
}

/** In a run: when its item has an outcome. A conversation that a user started ends when it is deleted. */
async function hasEnded({ records }: World, row: ConversationRow): Promise<boolean> {
  if (isAtWork(row) || row.runId === null || row.key === null) return false;
  const item = await records.runItem(row.runId, row.key);
  // An attempt that was followed by another one has ended, too.
  return item === null || item.outcome !== null || item.conversationId !== row.conversationId;
}
