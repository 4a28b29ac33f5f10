/**
 * L10: what sandboxes and conversations say of agents fits the world: nobody works where nothing runs, and who was
 * deleted is in no list; a sandbox goes with its last conversation, and takes no more than the policy says (D11, D15, D16).
 * Owns the checks on conversations that are at rest with their sandbox.
 */
import type { Finding, Rest } from './checker.ts';
import { conversationsAt, runsAt, sandboxesAt } from './states-at-rest.ts';

export function agentsAgree(rest: Rest): readonly Finding[] {
  return [...leftRunning(rest), ...stillListed(rest), ...leftAlone(rest)];
}

function leftRunning(rest: Rest): readonly Finding[] {
  return conversationsAt(rest).flatMap(({ entity, state }) => {
    const { phase, sandbox, executionStatus, interrupted, agentActivity } = state;
    if (phase !== 'active' || sandbox === null || sandbox.usable || sandbox.transition !== null) return [];
    if (agentActivity === 'working') return [{ entity, problem: 'its agent works, and its sandbox is down' }];
    if (executionStatus !== 'RUNNING' || interrupted) return [];
    return [{ entity, problem: 'its agent is left RUNNING, and its sandbox is down' }];
  });
}

function stillListed(rest: Rest): readonly Finding[] {
  const deleted = new Set(
    conversationsAt(rest)
      .filter(({ state }) => state.phase === 'deleted')
      .map(({ state }) => state.spec.conversationId as string),
  );
  return sandboxesAt(rest).flatMap(({ entity, state }) => {
    const ghost = Object.keys(state.attached).find((id) => deleted.has(id));
    return ghost === undefined
      ? []
      : [{ entity, problem: `conversation ${ghost} is deleted, and still in its list` }];
  });
}

/** Of a pool: its run answers for what nobody is in, and who has ended is attached there without counting. */
function pooled(rest: Rest): ReadonlySet<string> {
  const uses = runsAt(rest).flatMap(({ state }) => state.sandboxes);
  return new Set(uses.filter((used) => used.pooled !== undefined).map(({ sandboxId }) => sandboxId));
}

function leftAlone(rest: Rest): readonly Finding[] {
  const ofPools = pooled(rest);
  const { conversationsPerSandboxMax } = rest.facts.policy.capacity;
  return sandboxesAt(rest).flatMap(({ entity, state: { sandboxId, attached, createdBy, phase } }) => {
    if (ofPools.has(sandboxId)) return [];
    const count = Object.keys(attached).length;
    if (count > conversationsPerSandboxMax) return [{ entity, problem: `${count} conversations are in it` }];
    const isKept = phase === 'running' || phase === 'released';
    if (!isKept || createdBy !== 'placement' || count > 0) return [];
    return [{ entity, problem: 'its last conversation is gone, and it was not deleted' }];
  });
}
