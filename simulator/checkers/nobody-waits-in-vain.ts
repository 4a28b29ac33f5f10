/**
 * L9: whoever waits, waits for something: an order that is out has somebody who awaits it.
 * Owns the checks on orders that nobody awaits, and agents that nobody will look at again.
 */
import type { Finding, Rest } from './checker.ts';
import { awaitedBy } from './late-answers.ts';
import { conversationsAt } from './states-at-rest.ts';

export function nobodyWaitsInVain(rest: Rest): readonly Finding[] {
  return [...orphanedOrders(rest), ...forgottenAgents(rest)];
}

function orphanedOrders({ entities, outstanding }: Rest): readonly Finding[] {
  const awaited = new Set(entities.flatMap(({ address, state }) => awaitedBy(address.machine, state)));
  return outstanding.flatMap(({ id, type }) => {
    if (type === 'record' || awaited.has(id)) return [];
    return [
      { entity: id.slice(0, id.indexOf('#')), problem: `${type} is carried out, and nobody awaits it` },
    ];
  });
}

function forgottenAgents(rest: Rest): readonly Finding[] {
  return conversationsAt(rest).flatMap(({ entity, state }) => {
    const { agentActivity, sandbox, recheckAt, queue, awaiting, phase, interrupted } = state;
    if (phase !== 'active' || agentActivity !== 'rate_limit' || sandbox?.usable !== true || interrupted)
      return [];
    if (recheckAt !== null || queue.length > 0 || awaiting !== null) return [];
    return [{ entity, problem: 'its agent waits for a rate limit, and nobody looks at it again' }];
  });
}
