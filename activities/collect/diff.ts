/**
 * The diff: one patch of everything since the commit the workspace started from.
 * Owns nothing but the file's name; the patch applies to the base commit.
 */
import type { ConversationId } from '../../core/ids.ts';
import type { AgentTarget } from '../../ports/agent-server.ts';
import { workspaceFacts } from '../in-sandbox.ts';
import type { World } from '../world.ts';
import type { Collected } from './collected.ts';

export async function collectDiff(
  world: World,
  target: AgentTarget,
  conversationId: ConversationId,
): Promise<readonly Collected[]> {
  const { workingDir, baseCommit } = await workspaceFacts(world, conversationId);
  if (baseCommit === null) return [];
  const content = await world.agent.patch(target, { path: workingDir, baseCommit });
  const base = { name: 'base-commit.txt', content: new TextEncoder().encode(`${baseCommit}\n`) };
  return [{ name: 'changes.patch', content }, base];
}
