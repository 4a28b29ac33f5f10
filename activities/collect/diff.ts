/**
 * The diff: one patch of everything since the commit the workspace started from.
 * Owns the file's name and that a patch which cannot be made is a finding; the patch applies to the base commit.
 */
import type { ConversationId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { AgentTarget } from '../../ports/agent-server.ts';
import { workspaceFacts } from '../in-sandbox.ts';
import type { World } from '../world.ts';
import type { CollectedStep } from './collected.ts';
import { leftOut } from './findings.ts';

const PATCH = 'changes.patch';

export async function collectDiff(
  world: World,
  target: AgentTarget,
  conversationId: ConversationId,
): Promise<CollectedStep> {
  const { workingDir, baseCommit } = await workspaceFacts(world, conversationId);
  if (baseCommit === null) return { made: [], findings: [] };
  const base = { name: 'base-commit.txt', content: new TextEncoder().encode(`${baseCommit}\n`) };
  try {
    const { content, findings } = await world.agent.patch(target, { path: workingDir, baseCommit });
    return {
      made: [{ name: PATCH, content }, base],
      findings: findings.map((says) => leftOut(PATCH, says)),
    };
  } catch (error) {
    // The same again each time: the repository is gone, has lost the commit, or has changed more than a patch takes.
    if (!(error instanceof ParleyError) || error.code !== 'agent_refused') throw error;
    return { made: [base], findings: [leftOut(PATCH, `it could not be made: ${error.message}`)] };
  }
}
