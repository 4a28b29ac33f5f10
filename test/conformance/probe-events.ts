/**
 * Events that may reach an entity in any of its phases: what people, other machines and late answers say.
 * Owns how each is made of a state; whether it changes anything is for the tables to say.
 */
import type { MachineEvent } from '../../core/machine/command.ts';
import type { ConversationState } from '../../core/conversation/state.ts';
import { conversationId, type MachineName } from '../../core/ids.ts';
import { indexAt, type RunState } from '../../core/run/state.ts';
import type { SandboxState } from '../../core/sandbox/state.ts';
import type { SandboxSnapshot } from '../../core/machine/snapshot.ts';
import { FAILURE_CLASSES, type FailureClass } from '../../core/status.ts';
import type { ProbeEvent } from './probe.ts';

const REQUEST = 'probe';
const STRANGER = conversationId('5'.repeat(32));
const REASON = 'probed';

const always =
  (event: MachineEvent): ProbeEvent =>
  () =>
    event;
/** Its command is the one that is awaited; null when none is. */
const answer =
  (make: (commandId: string, now: number) => MachineEvent): ProbeEvent =>
  (state, now) => {
    const { awaiting } = state as { readonly awaiting: string | null };
    return awaiting === null ? null : make(awaiting, now);
  };
const ofSandbox =
  (make: (state: SandboxState, now: number) => MachineEvent | null): ProbeEvent =>
  (state, now) =>
    make(state as SandboxState, now);
const ofConversation =
  (make: (state: ConversationState) => MachineEvent | null): ProbeEvent =>
  (state) =>
    make(state as ConversationState);

const attachedTo = ({ attached }: SandboxState) => conversationId(Object.keys(attached)[0] ?? STRANGER);
const notice =
  (activity: 'working' | 'resting' | 'confirmation'): ProbeEvent =>
  (state) => ({
    type: 'agentNoticed',
    conversationId: attachedTo(state as SandboxState),
    sequence: 10_000,
    activity,
  });

const SANDBOX_EVENTS: Readonly<Record<string, ProbeEvent>> = {
  'its conversation leaves': ofSandbox((state) => ({
    type: 'detached',
    conversationId: attachedTo(state),
  })),
  'an agent waits': notice('confirmation'),
  'an agent works': notice('working'),
  'a stranger by choice': always({
    type: 'attachRequested',
    requestId: REQUEST,
    conversationId: STRANGER,
    explicit: true,
    spec: null,
  }),
  'a stranger by strategy': always({
    type: 'attachRequested',
    requestId: REQUEST,
    conversationId: STRANGER,
    explicit: false,
    spec: null,
  }),
  'a resume': always({ type: 'resumeRequested', requestId: REQUEST, conversationId: null }),
  'a resume for a conversation': ofSandbox((state) => ({
    type: 'resumeRequested',
    requestId: REQUEST,
    conversationId: attachedTo(state),
  })),
  'a pause': always({ type: 'pauseRequested', requestId: REQUEST, reason: 'user' }),
  'a pause to make room': always({ type: 'pauseRequested', requestId: REQUEST, reason: 'capacity' }),
  'a deletion': always({ type: 'deleteRequested', requestId: REQUEST }),
  'an emptied host': always({ type: 'deleteRequested', requestId: REQUEST, onlyReleased: true }),
  'a host that is given up': always({ type: 'hostLost' }),
  'a deadline that is not due': always({ type: 'deadline' }),
  gone: answer((commandId) => ({ type: 'runtimeGone', commandId })),
  ready: answer((commandId) => ({ type: 'sandboxReady', commandId })),
  'no archive': answer((commandId) => ({ type: 'archiveFailed', commandId, reason: REASON })),
  'no stop': answer((commandId) => ({ type: 'stopFailed', commandId, reason: REASON })),
  'no removal': answer((commandId) => ({ type: 'destroyFailed', commandId, reason: REASON })),
  'a watch that is too early': ofSandbox(({ watch }, now) =>
    watch === null ? null : { type: 'idleReached', commandId: watch, lastActivityAt: now, lookedAt: now },
  ),
};

function snapshot(sandbox: SandboxSnapshot, change: Partial<SandboxSnapshot>): SandboxSnapshot {
  return { ...sandbox, sequence: sandbox.sequence + 1_000, ...change };
}

const noticed =
  (change: Partial<SandboxSnapshot>): ProbeEvent =>
  (state) => {
    const { sandbox } = state as ConversationState;
    return sandbox === null ? null : { type: 'sandboxNoticed', sandbox: snapshot(sandbox, change) };
  };
const resumed =
  (refusal: 'resume_failed' | null, change: Partial<SandboxSnapshot>): ProbeEvent =>
  (state) => {
    const { sandbox, resumeRequestId } = state as ConversationState;
    if (sandbox === null) return null;
    const requestId = resumeRequestId ?? REQUEST;
    return { type: 'resumeAnswered', requestId, refusal, sandbox: snapshot(sandbox, change) };
  };
const OVER = { status: 'ERROR', usable: false, detail: REASON } as const;
const RELEASED = { status: 'PAUSED', pauseReason: 'idle', usable: false, transition: null } as const;

const CONVERSATION_EVENTS: Readonly<Record<string, ProbeEvent>> = {
  'a deletion': always({ type: 'deleteRequested', requestId: REQUEST }),
  'another title': always({ type: 'metadataChanged', requestId: REQUEST, title: 'probed', tags: null }),
  'a message': always({ type: 'messageReceived', messageId: REQUEST, text: 'more', run: true }),
  'an interruption': always({ type: 'interruptRequested', requestId: REQUEST }),
  'a deadline that is not due': always({ type: 'deadline' }),
  'the same notice, newer': noticed({}),
  'its sandbox is over': noticed(OVER),
  'its sandbox is released': noticed(RELEASED),
  'a resume that worked': resumed(null, {}),
  'a resume that left it released': resumed(null, RELEASED),
  'a resume refused': resumed('resume_failed', {}),
  'a resume refused for good': resumed('resume_failed', OVER),
  'a step that failed': answer((commandId) => ({
    type: 'stepFailed',
    commandId,
    code: 'agent_unreachable',
    reason: REASON,
  })),
  'a refused placement': answer((commandId) => ({
    type: 'placementRefused',
    commandId,
    code: 'placement_failed',
    reason: REASON,
  })),
  'a refused attachment': ofConversation(({ attachRequestId, sandbox, sandboxId }) => {
    if (attachRequestId === null || sandboxId === null) return null;
    const unknown: SandboxSnapshot = {
      sandboxId,
      generation: 1,
      sequence: 1,
      status: 'ERROR',
      pauseReason: null,
      transition: null,
      usable: false,
      detail: null,
    };
    return {
      type: 'attachAnswered',
      requestId: attachRequestId,
      accepted: false,
      sandbox: sandbox ?? unknown,
    };
  }),
};

/** Takes up the first item again, or none: the run is asked either way. */
const again = (classes: readonly FailureClass[]): ProbeEvent =>
  always({ type: 'resumeRequested', requestId: REQUEST, classes });
const itemAnswer =
  (make: (commandId: string, index: number) => MachineEvent): ProbeEvent =>
  (state) => {
    const { items } = state as RunState;
    const position = items.findIndex((item) => item.awaiting !== null);
    const awaiting = items[position]?.awaiting ?? null;
    return awaiting === null ? null : make(awaiting, indexAt(state as RunState, position));
  };

/** A notice of the first item's conversation, newer than any it sent. */
const newerNotice: ProbeEvent = (state) => {
  const [item] = (state as RunState).items;
  if (item?.conversationId == null) return null;
  const conversation = {
    conversationId: item.conversationId,
    itemIndex: indexAt(state as RunState, 0),
    generation: 0,
    sequence: 10_000,
    startTask: 'READY',
    sandboxId: item.sandboxId,
    sandboxStatus: 'PAUSED',
    pauseReason: 'user',
    executionStatus: 'IDLE',
    interrupted: false,
    limitReached: null,
    settled: true,
    detail: null,
    deleted: false,
  } as const;
  return { type: 'conversationNoticed', conversation };
};

/** None was made: what is there is known already, or comes with the answer that is still out. */
function poolMade(commandId: string | null): MachineEvent | null {
  return commandId === null ? null : { type: 'poolWarmed', commandId, sandboxIds: [], reason: REASON };
}

/** A run that makes its pool orders that before anything else; null for any other, and while the answer is out. */
function firstOrder({ runId, rules, warming }: RunState): string | null {
  return rules.pool?.warm === true && warming === undefined ? `run/${runId}#1` : null;
}

const RUN_EVENTS: Readonly<Record<string, ProbeEvent>> = {
  'a resume of nothing': again([]),
  'a resume of what failed': again(FAILURE_CLASSES),
  'another concurrency': always({
    type: 'settingsChanged',
    requestId: REQUEST,
    settings: { concurrency: 7 },
  }),
  'a requeue of nothing': always({ type: 'requeueRequested', requestId: REQUEST, keys: [] }),
  'a requeue of all that ended': (state) => ({
    type: 'requeueRequested',
    requestId: REQUEST,
    keys: (state as RunState).items.map(({ key }) => key),
  }),
  'a plan without its items': (state) => ({
    type: 'planAmended',
    requestId: REQUEST,
    basePlanHash: (state as RunState).planHash,
    planHash: 'amended',
    changed: [],
    added: [],
    retired: (state as RunState).items.map((_, index) => index),
  }),
  'a plan whose first item is another': (state) => ({
    type: 'planAmended',
    requestId: REQUEST,
    basePlanHash: (state as RunState).planHash,
    planHash: 'amended',
    changed: (state as RunState).items.slice(0, 1).map((item, index) => ({
      index,
      spec: { key: item.key, priority: 1, hasVerify: false, workingMs: null },
      isAnew: true,
    })),
    added: [],
    retired: [],
  }),
  'a hold': always({ type: 'holdRequested', requestId: REQUEST }),
  'a cancellation': always({ type: 'cancelRequested', requestId: REQUEST }),
  'a deadline that is not due': always({ type: 'deadline' }),
  'a notice that is newer': newerNotice,
  'a check that could not be run': itemAnswer((commandId, index) => ({
    type: 'verifyFailed',
    commandId,
    index,
    reason: REASON,
  })),
  'a refused start': itemAnswer((commandId, index) => ({
    type: 'startRefused',
    commandId,
    index,
    reason: REASON,
  })),
  'a pool that is made': (state) => poolMade((state as RunState).warming ?? null),
  'a pool that is made, said again': (state) => poolMade(firstOrder(state as RunState)),
  'a pool that is made, said too late': () => poolMade('run/late#1'),
  'a receiver that refuses': answer((commandId) => ({ type: 'notifyFailed', commandId, reason: REASON })),
};

const SHARD_EVENTS: Readonly<Record<string, ProbeEvent>> = {
  'a deadline that is not due': always({ type: 'deadline' }),
  'a notice that is newer': newerNotice,
  'a check that could not be run': itemAnswer((commandId, index) => ({
    type: 'verifyFailed',
    commandId,
    index,
    reason: REASON,
  })),
  'a refused start': itemAnswer((commandId, index) => ({
    type: 'startRefused',
    commandId,
    index,
    reason: REASON,
  })),
};

export const PROBE_EVENTS: Readonly<Record<MachineName, Readonly<Record<string, ProbeEvent>>>> = {
  sandbox: SANDBOX_EVENTS,
  conversation: CONVERSATION_EVENTS,
  run: RUN_EVENTS,
  shard: SHARD_EVENTS,
};
