/**
 * How a clone inside a sandbox is authorised: the relay on our side identifies a conversation by its key (D19).
 * Owns the file that Git reads it from; the script that clones removes it.
 */
import type { ConversationId } from '../core/ids.ts';
import { quoted } from '../core/text/shell-word.ts';
import type { AgentTarget } from '../ports/agent-server.ts';
import type { World } from './world.ts';

export async function writeGitCredential(
  world: World,
  target: AgentTarget,
  whose: {
    readonly conversationId: ConversationId;
    readonly generation: number;
    readonly path: string;
    /** Addresses that are read through the relay, too. */
    readonly address?: { readonly outside: string | null; readonly inside: string };
  },
): Promise<void> {
  const key = world.keys.proxyKey(whose.conversationId, whose.generation);
  const { outside = null, inside = '' } = whose.address ?? {};
  const other = outside === null ? '' : `[url "${inside}"]\n\tinsteadOf = ${outside}\n`;
  const content = `[http]\n\textraHeader = Authorization: Bearer ${key}\n${other}`;
  await world.agent.writeFile(target, whose.path, new TextEncoder().encode(content));
}

/** First lines of a script that clones: the credential is used, and is removed when the script ends. */
export function withGitCredential(path: string): string {
  return [
    'set -e',
    `export GIT_CONFIG_GLOBAL=${quoted(path)} GIT_TERMINAL_PROMPT=0`,
    `trap ${quoted(`rm -f ${quoted(path)}`)} EXIT`,
  ].join('\n');
}
