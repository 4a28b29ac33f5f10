/**
 * Files by glob, read from the workspace.
 * Owns the bounds; what a glob matches and cannot be had is a finding beside the rest. A link is not followed.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { Finding } from '../../core/run/items/item-evidence.ts';
import type { AgentTarget } from '../../ports/agent-server.ts';
import { workspaceFacts } from '../in-sandbox.ts';
import type { World } from '../world.ts';
import type { Collected, CollectedStep } from './collected.ts';
import { leftOut } from './findings.ts';
import { listMatches, shownName, type Match } from './matches.ts';

/** Of all files of one item together: results are for reading, archives are made elsewhere. */
const BYTES_MAX = 256 * 1024 * 1024;

export async function collectFiles(
  world: World,
  target: AgentTarget,
  wanted: { readonly conversationId: ConversationId; readonly globs: readonly string[] },
): Promise<CollectedStep> {
  const { workingDir } = await workspaceFacts(world, wanted.conversationId);
  const { matches, uncounted, tooDeep } = await listMatches(world, target, {
    workingDir,
    globs: wanted.globs,
  });
  const made: Collected[] = [];
  const findings: Finding[] = [];
  let bytes = 0;
  for (const match of matches) {
    const result = `files/${shownName(match.name)}`;
    const why = obstacleOf(match) ?? (bytes + match.bytes > BYTES_MAX ? TOO_MUCH : null);
    if (why !== null) {
      findings.push(leftOut(result, why));
      continue;
    }
    const content = await readOne(world, target, `${workingDir}/${match.name.toString('utf8')}`);
    if (typeof content === 'string') findings.push(leftOut(result, content));
    // It may have grown since it was listed, as far as its sandbox wants.
    else if (bytes + content.byteLength > BYTES_MAX) findings.push(leftOut(result, TOO_MUCH));
    else {
      bytes += content.byteLength;
      made.push({ name: `files/${match.name.toString('utf8')}`, content });
    }
  }
  if (uncounted > 0)
    findings.push(leftOut('files', `${uncounted} more matches were left out: there are too many`));
  if (tooDeep > 0) findings.push(leftOut('files', `${tooDeep} paths were left out: they are too long`));
  return { made, findings };
}

const TOO_MUCH = `left out: all files together are more than ${BYTES_MAX} bytes`;

function obstacleOf({ kind, name }: Match): string | null {
  switch (kind) {
    case 'link':
      return 'left out: it is a link';
    case 'special':
      return 'left out: it is a pipe, a socket or a device';
    case 'outside':
      return 'left out: a link leads out of the workspace on its way';
    case 'unreadable':
      return 'left out: it cannot be read';
    case 'file':
      return Buffer.from(name.toString('utf8'), 'utf8').equals(name)
        ? null
        : 'left out: its name is no UTF-8';
  }
}

/** The content, or why there is none. @throws ParleyError what may pass by itself */
async function readOne(world: World, target: AgentTarget, path: string): Promise<Uint8Array | string> {
  try {
    return (await world.agent.readFile(target, path)) ?? 'left out: it was removed meanwhile';
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'agent_refused') throw error;
    return `left out: ${error.message}`;
  }
}
