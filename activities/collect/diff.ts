/**
 * The diff: one patch of everything since the commit the workspace started from.
 * Owns the file's name and that a patch which cannot be made is a finding; the patch applies to the base commit.
 */
import { EMPTY_TREE } from '../../core/commit-id.ts';
import type { ConversationId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { AgentTarget } from '../../ports/agent-server.ts';
import { workspaceFacts } from '../in-sandbox.ts';
import type { World } from '../world.ts';
import type { Collected, CollectedStep } from './collected.ts';
import { leftOut } from './findings.ts';

/** Name of the file that keeps an item's changes. */
export const PATCH_FILE = 'changes.patch';

export async function collectDiff(
  world: World,
  target: AgentTarget,
  conversationId: ConversationId,
): Promise<CollectedStep> {
  const { workingDir, baseCommit } = await workspaceFacts(world, conversationId);
  if (baseCommit === null) return { made: [], findings: [] };
  const since = (base: string): Promise<CollectedStep> =>
    patchSince(world, target, { path: workingDir, base });
  try {
    return await since(baseCommit);
  } catch (error) {
    // The same again each time: the repository is gone, has lost the commit, or has changed more than a patch takes.
    if (!(error instanceof ParleyError) || error.code !== 'agent_refused') throw error;
    const conversation = await world.records.conversation(conversationId);
    // Where none was selected, the one that is there may be the agent's own, and all of it is its work.
    const isOwn = conversation?.selectedRepository === null && baseCommit !== EMPTY_TREE;
    const all = isOwn ? await since(EMPTY_TREE).catch(() => null) : null;
    if (all !== null) return all;
    const says = `it could not be made: ${error.message}`;
    return { made: [baseFile(baseCommit)], findings: [leftOut(PATCH_FILE, says)] };
  }
}

async function patchSince(
  world: World,
  target: AgentTarget,
  { path, base }: { readonly path: string; readonly base: string },
): Promise<CollectedStep> {
  const { content, findings } = await world.agent.patch(target, { path, baseCommit: base });
  return {
    made: [{ name: PATCH_FILE, content }, baseFile(base)],
    findings: findings.map((says) => leftOut(PATCH_FILE, says)),
  };
}

function baseFile(base: string): Collected {
  return { name: 'base-commit.txt', content: new TextEncoder().encode(`${base}\n`) };
}
