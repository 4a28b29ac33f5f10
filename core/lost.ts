/**
 * Entities that no workflow leads any more: it was ended from outside, and only the record is left.
 * Owns what the record alone says of an entity, and the event that ends it; the machines do the rest.
 */
import type { ConversationEvent } from './conversation/message.ts';
import { initConversation, type ConversationState } from './conversation/state.ts';
import type { ConversationId, EntityAddress } from './ids.ts';
import type { ConversationRow, ProjectionRow, RunItemRow, RunRow, SandboxRow } from './machine/projection.ts';
import type { SandboxEvent } from './sandbox/message.ts';
import { initSandbox, withAttached, type SandboxPhase, type SandboxState } from './sandbox/state.ts';

/** Further than any entity counts in its life: no receiver takes what it sends from here on for a repeat. */
const COUNT_FROM = 1_000_000_000;
const COMMAND = 'lost';
const REASON = 'its workflow was ended from outside';

/** An entity that the store has and no workflow leads, with the event that ends it. */
export interface Lost<State, Event> {
  readonly state: State;
  readonly event: Event;
}

/** No workflow leads it: it is deleted, archive first (D12), which frees its slot and notifies its conversations. */
export function lostSandbox(
  row: SandboxRow,
  attached: readonly ConversationId[],
): Lost<SandboxState, SandboxEvent> {
  const { sandboxId, userId, createdBy, createdAt } = row;
  const limits = { idleTimeMs: null, deletionTimeMs: null };
  const agent = { activity: 'resting', sequence: -1, since: createdAt } as const;
  const state: SandboxState = {
    ...initSandbox({ sandboxId, userId, createdBy, limits }, createdAt),
    commandCount: COUNT_FROM,
    phase: phaseOf(row),
    generation: row.generation,
    sequence: row.sequence,
    status: row.status,
    pauseReason: row.pauseReason,
    archive: row.archive,
    everReady: row.status !== 'STARTING',
    attached: attached.reduce((all, id) => withAttached(all, id, agent), {}),
  };
  return { state, event: { type: 'deleteRequested', requestId: `${COMMAND}/${sandboxId}` } };
}

function phaseOf({ status, releasedAt }: SandboxRow): SandboxPhase {
  switch (status) {
    case 'ERROR':
      return 'error';
    case 'MISSING':
      return 'missing';
    case 'PAUSED':
      return releasedAt === null ? 'running' : 'released';
    case 'STARTING':
    case 'RUNNING':
      return 'running';
  }
}

/** Where a conversation stands in the run that began it. */
export interface ItemOfRun {
  /** The run, or its shard, that is notified of the conversation. */
  readonly watcher: EntityAddress;
  /** Position in the run's plan. */
  readonly index: number;
}

/** What it was doing is unknown: it ends in ERROR, with its transcript; its run is notified and begins it again. */
export function lostConversation(
  row: ConversationRow,
  item: ItemOfRun | null,
): Lost<ConversationState, ConversationEvent> {
  const { conversationId, userId, runId, key, title, tags, model, observability } = row;
  const spec: ConversationState['spec'] = {
    ...{ conversationId, userId, runId, key, title, tags, model },
    ...(observability === undefined ? {} : { observability }),
    itemIndex: item?.index ?? null,
    repository: row.selectedRepository,
    branch: row.selectedBranch,
    codeHost: row.codeHost ?? null,
    nanoUsdMax: row.nanoUsdMax ?? null,
    strategy: 'NO_GROUPING',
    sandboxId: null,
    initialMessage: null,
    iterationsMax: 0,
    confirmation: 'never',
    noProgressMs: null,
  };
  const state: ConversationState = {
    ...initConversation(spec, item?.watcher ?? null, row.createdAt),
    commandCount: COUNT_FROM,
    agentSequence: COUNT_FROM,
    phase: 'startingConversation',
    startTask: row.startTask,
    sequence: row.sequence,
    awaiting: COMMAND,
    sandboxId: row.sandboxId,
    executionStatus: row.executionStatus,
    executionStatusAt: row.executionStatusAt,
  };
  return { state, event: { type: 'stepFailed', commandId: COMMAND, code: 'workflow_lost', reason: REASON } };
}

/**
 * Its rules are in its workflow alone, so it cannot go on: it has ended, and every item that had not is a failure.
 * Conversations that were in flight go on by themselves, and can be read and stopped as any other.
 */
export function lostRun(row: RunRow, items: readonly RunItemRow[], now: number): readonly ProjectionRow[] {
  const open = items.filter(({ phase }) => phase !== 'ended');
  const failed = (row.ended.failed ?? 0) + open.length;
  return [
    {
      ...row,
      sequence: row.sequence + COUNT_FROM,
      phase: 'finished',
      mode: 'cancelling',
      reason: 'workflow_lost',
      waiting: 0,
      inFlight: 0,
      ended: failed === 0 ? row.ended : { ...row.ended, failed },
      endedAt: now,
    },
    ...open.map((item): RunItemRow => ({
      ...item,
      sequence: item.sequence + COUNT_FROM,
      phase: 'ended',
      outcome: 'failed',
      failureClass: 'infra',
      detail: `workflow_lost: ${REASON}`,
      endedAt: now,
    })),
  ];
}
