/**
 * What must have come to its end when the clock stops: starts, tasks, waits, objects and slots.
 * Owns the checks on entities at rest.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import { addressKey, type MachineName } from '../../core/ids.ts';
import type { RunState } from '../../core/run/state.ts';
import type { SandboxPhase, SandboxState } from '../../core/sandbox/state.ts';
import { type Finding, PUNCTUAL, type Rest } from './checker.ts';
import { awaitedBy } from './late-answers.ts';

/** Phases that wait for an answer: each has a deadline of its own. */
const WAITING: ReadonlySet<SandboxPhase> = new Set<SandboxPhase>([
  'starting',
  'reserving',
  'resuming',
  'pausing',
  'stopping',
  'archiving',
  'destroying',
  'errorStopping',
  'errorArchiving',
  'errorDestroying',
]);

/** L1: every start and resume, and every other transition, has an end ahead of it (D13). */
export function startsEnd(rest: Rest): readonly Finding[] {
  const { settleMs } = rest.timeliness ?? PUNCTUAL;
  return sandboxesAt(rest).flatMap(({ entity, state: { phase, phaseDeadline } }) => {
    if (!WAITING.has(phase)) return [];
    if (phaseDeadline === null) return [{ entity, problem: `it is ${phase}, and nothing ends that` }];
    return rest.now > phaseDeadline + settleMs
      ? [{ entity, problem: `it is ${phase} after the deadline of that` }]
      : [];
  });
}

/** Phases that themselves mean that nothing is up. */
const DOWN = [
  'released',
  'archiving',
  'destroying',
  'errorArchiving',
  'error',
  'errorDestroying',
  'errorEmpty',
  'missing',
];

/**
 * L4: nothing is alive, and no slot is held, that no sandbox answers for. What is on its way may hold its slot before
 * its machine has begun.
 */
export function noOrphans(rest: Rest): readonly Finding[] {
  const { facts } = rest;
  const found: Finding[] = [];
  const down = new Set(
    sandboxesAt(rest)
      .filter(({ state }) => DOWN.includes(state.phase))
      .map(({ state }) => state.sandboxId),
  );
  const known = new Set(sandboxesAt(rest).map(({ state }) => state.sandboxId));
  for (const [id, generations] of facts.live) {
    if (down.has(id) || !known.has(id))
      found.push({ entity: `sandbox/${id}`, problem: 'a runtime object is alive for nobody' });
    if (generations.size > 1)
      found.push({
        entity: `sandbox/${id}`,
        problem: `generations ${[...generations].join(', ')} are alive`,
      });
  }
  for (const id of facts.foreign())
    found.push({ entity: `sandbox/${id}`, problem: 'an object of nobody stands beside it' });
  for (const id of facts.slots.keys())
    if (down.has(id) || !known.has(id))
      found.push({ entity: `sandbox/${id}`, problem: 'a slot is held for nobody' });
  return found;
}

/** L6: every start task ends READY, or in ERROR with a reason (D18). One that goes on has a deadline ahead. */
export function startTasksEnd(rest: Rest): readonly Finding[] {
  const { settleMs } = rest.timeliness ?? PUNCTUAL;
  return conversationsAt(rest).flatMap(({ entity, state }) => {
    const { startTask, startTaskDetail, startDeadline, phase } = state;
    if (startTask === 'READY' || phase === 'deleting' || phase === 'deleted') return [];
    if (startTask === 'ERROR')
      return startTaskDetail === null ? [{ entity, problem: 'its start failed without a reason' }] : [];
    if (startDeadline !== null && startDeadline + settleMs >= rest.now) return [];
    return [{ entity, problem: `its start task is ${startTask}, and nothing ends that` }];
  });
}

/** L7: what a sandbox says and what its runtime has agree. */
export function runtimeAgrees(rest: Rest): readonly Finding[] {
  return sandboxesAt(rest).flatMap(({ entity, state: { phase, sandboxId, generation } }) => {
    const alive = rest.facts.live.get(sandboxId)?.has(generation) === true;
    if (phase === 'running' && !alive)
      return [{ entity, problem: `it runs, and generation ${generation} is not up` }];
    return phase === 'missing' && alive ? [{ entity, problem: 'it is missing, and its runtime is up' }] : [];
  });
}

/**
 * L9: what waits, waits for something: an order that is out has a machine that awaits it. Owns the checks on orders
 * that no machine awaits, and agents that no watch will poll again.
 */
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

/**
 * L10: what sandboxes and conversations say of agents fits the world: no agent works where nothing runs, and a deleted
 * conversation is in no list; a sandbox goes with its last conversation, and takes no more than the policy says (D11,
 * D15, D16). Owns the checks on conversations that are at rest with their sandbox.
 */
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

/** Of a pool: its run answers for empty ones, and an ended conversation is attached there without counting. */
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

interface At<State> {
  readonly entity: string;
  readonly state: State;
}

/** The entities of one machine, with their keys. */
export const sandboxesAt = (rest: Rest): readonly At<SandboxState>[] => of(rest, 'sandbox');
export const conversationsAt = (rest: Rest): readonly At<ConversationState>[] => of(rest, 'conversation');
export const runsAt = (rest: Rest): readonly At<RunState>[] => of(rest, 'run');
export const shardsAt = (rest: Rest): readonly At<RunState>[] => of(rest, 'shard');

function of<State>({ entities }: Rest, machine: MachineName): readonly At<State>[] {
  return entities
    .filter(({ address, state }) => address.machine === machine && state !== null)
    .map(({ address, state }) => ({ entity: addressKey(address), state: state as State }));
}
