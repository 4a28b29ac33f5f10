/**
 * L13: a conversation whose host was lost is read-only: nobody works in it, and nothing waits for its sandbox (D33).
 * Owns the check on conversations at rest.
 */
import { HOST_LOST } from '../../../core/machine/projection.ts';
import type { Finding, Rest } from '../checker.ts';
import { conversationsAt, sandboxesAt } from '../states-at-rest.ts';

export function readOnlyAfterAHost(rest: Rest): readonly Finding[] {
  if (rest.facts.hosts === undefined || rest.facts.hosts === null) return [];
  const lost = new Set<string>(
    sandboxesAt(rest).flatMap(({ state: { sandboxId, status, detail } }) =>
      status === 'MISSING' && detail === HOST_LOST ? [sandboxId] : [],
    ),
  );
  return conversationsAt(rest).flatMap(({ entity, state }) => {
    const { sandboxId, sandbox, phase, agentActivity, queue } = state;
    if (phase !== 'active' || sandboxId === null || !lost.has(sandboxId)) return [];
    if (sandbox?.status !== 'MISSING')
      return [{ entity, problem: 'its host was lost, and it does not know' }];
    if (agentActivity === 'working') return [{ entity, problem: 'its host was lost, and its agent works' }];
    return queue.length > 0 ? [{ entity, problem: 'its host was lost, and something waits in it' }] : [];
  });
}
