/**
 * Moves that several phases of a conversation share: telling, projecting, pursuing what is still wanted.
 * Owns what entering a phase orders; which phase to enter is decided by the transition table's handlers.
 */
import type { ErrorCode } from '../error-catalogue.ts';
import { RESUME_REQUESTS_MAX } from '../limits.ts';
import { START_FAILED, type ConversationRow } from '../machine/projection.ts';
import type { SandboxEvent } from '../sandbox/message.ts';
import { isNewer, type ConversationSnapshot, type SandboxSnapshot } from '../machine/snapshot.ts';
import type { StartTaskStatus } from '../status.ts';
import type { Turn } from '../machine/turn.ts';
import type { ConversationOrder } from './message.ts';
import { conversationSnapshot, type ConversationPhase, type ConversationState } from './state.ts';

export type ConversationTurn = Turn<ConversationState, ConversationOrder>;

/** Steps of a start in order, with the status that shows them (D18). */
const START_STEPS = {
  preparingRepository: { status: 'PREPARING_REPOSITORY', next: 'runningSetupScript' },
  runningSetupScript: { status: 'RUNNING_SETUP_SCRIPT', next: 'settingUpGitHooks' },
  settingUpGitHooks: { status: 'SETTING_UP_GIT_HOOKS', next: 'settingUpSkills' },
  settingUpSkills: { status: 'SETTING_UP_SKILLS', next: 'startingConversation' },
  startingConversation: { status: 'STARTING_CONVERSATION', next: 'active' },
} as const satisfies Partial<Record<ConversationPhase, { status: StartTaskStatus; next: ConversationPhase }>>;

export type StartStep = keyof typeof START_STEPS;

export function isStartStep(phase: ConversationPhase): phase is StartStep {
  return phase in START_STEPS;
}

/** Whatever still runs on behalf of this conversation stops; its answer, should one come, is late by its id. */
export function abandonCommand(turn: ConversationTurn): void {
  const { state } = turn;
  if (state.awaiting !== null) turn.order({ type: 'cancelCommand', commandId: state.awaiting });
  state.awaiting = null;
  state.awaitingGeneration = null;
}

export function stopWatching(turn: ConversationTurn): void {
  if (turn.state.watch === null) return;
  turn.order({ type: 'cancelCommand', commandId: turn.state.watch });
  turn.state.watch = null;
}

export function tellSandbox(turn: ConversationTurn, event: SandboxEvent): void {
  const { sandboxId } = turn.state;
  if (sandboxId !== null) turn.order({ type: 'send', to: { machine: 'sandbox', id: sandboxId }, event });
}

/** A request id of our own making: unique because the command count never repeats. */
export function newRequestId({ state }: ConversationTurn): string {
  return `conversation/${state.spec.conversationId}?${state.commandCount}`;
}

export function beginStep(turn: ConversationTurn, step: StartStep): void {
  const { state } = turn;
  state.phase = step;
  state.startTask = START_STEPS[step].status;
  orderAgent(turn, (agent) => stepOrder(state, step, agent));
}

export function stepAfter(step: StartStep): ConversationPhase {
  return START_STEPS[step].next;
}

function stepOrder(state: ConversationState, step: StartStep, agent: AgentAddress): ConversationOrder {
  const { conversationId, sandboxId, generation } = agent;
  const { repository, codeHost, branch } = state.spec;
  switch (step) {
    case 'preparingRepository':
      return {
        conversationId,
        sandboxId,
        generation,
        type: 'prepareRepository',
        repository,
        codeHost,
        branch,
      };
    case 'runningSetupScript':
      return { conversationId, sandboxId, generation, type: 'runSetupScript' };
    case 'settingUpGitHooks':
      return { conversationId, sandboxId, generation, type: 'setUpGitHooks' };
    case 'settingUpSkills':
      return { conversationId, sandboxId, generation, type: 'setUpSkills' };
    case 'startingConversation':
      return openOrder(state, agent);
  }
}

/** Opens the agent's conversation, or arms the one that exists with the keys of this incarnation (D15, D19). */
export function openOrder(state: ConversationState, agent: AgentAddress): ConversationOrder {
  const { conversationId, sandboxId, generation } = agent;
  const { userId, model, tags, iterationsMax, confirmation } = state.spec;
  return {
    conversationId,
    sandboxId,
    generation,
    type: 'openAgent',
    userId,
    model,
    tags,
    iterationsMax,
    confirmation,
  };
}

export interface AgentAddress {
  readonly conversationId: ConversationState['spec']['conversationId'];
  readonly sandboxId: SandboxSnapshot['sandboxId'];
  readonly generation: number;
}

/** Orders something of the agent in the present incarnation, and waits for its answer. */
export function orderAgent(
  turn: ConversationTurn,
  compose: (agent: AgentAddress) => ConversationOrder,
): void {
  const { state } = turn;
  if (state.sandbox === null) return;
  state.awaiting = turn.order(compose(agentAddress(state, state.sandbox)));
  state.awaitingGeneration = state.sandbox.generation;
}

export function agentAddress(state: ConversationState, sandbox: SandboxSnapshot): AgentAddress {
  return {
    conversationId: state.spec.conversationId,
    sandboxId: sandbox.sandboxId,
    generation: sandbox.generation,
  };
}

/** The start ends in ERROR with its reason; what was queued is refused, not lost (D18). */
export function failStart(turn: ConversationTurn, code: ErrorCode, reason: string): void {
  const { state } = turn;
  // A placement under way is heard out: it may have taken a slot already.
  if (state.phase !== 'placing') abandonCommand(turn);
  state.phase = 'startFailed';
  state.startTask = 'ERROR';
  state.startTaskDetail = `${code}: ${reason}`;
  state.startDeadline = null;
  // Whoever follows the events of the conversation reads the reason there.
  note(turn, START_FAILED, state.startTaskDetail);
  releaseSandbox(turn);
  state.resumeRequestId = null;
  refuseQueue(turn, code, reason);
}

/** An item of a run is its run's to clean up. */
export function releaseSandbox(turn: ConversationTurn): void {
  const { spec, sandbox, attachRequestId } = turn.state;
  // While the attachment has not been answered, its answer is waited for.
  if (spec.runId !== null || attachRequestId !== null || sandbox?.usable !== true) return;
  tellSandbox(turn, { type: 'startFailed', conversationId: spec.conversationId });
}

/** An accepted message is delivered exactly once or refused explicitly, with an event (D7). */
export function refuseQueue(turn: ConversationTurn, code: ErrorCode, reason: string): void {
  const { state } = turn;
  const { queue } = state;
  state.queue = [];
  for (const item of queue) if (item.kind === 'message') refuseMessage(turn, item.itemId, code, reason);
}

export function refuseMessage(
  turn: ConversationTurn,
  messageId: string,
  code: ErrorCode,
  reason: string,
): void {
  note(turn, 'message_refused', `${messageId}: ${code}: ${reason}`);
}

function note(turn: ConversationTurn, code: string, detail: string): void {
  const { conversationId } = turn.state.spec;
  const about = { machine: 'conversation', id: conversationId } as const;
  turn.order({ type: 'record', event: { about, conversationId, code, detail } });
}

/** True when the snapshot is news; an older one says nothing (newest wins). */
export function acceptSnapshot(turn: ConversationTurn, sandbox: SandboxSnapshot): boolean {
  const { state } = turn;
  if (sandbox.sandboxId !== state.sandboxId || !isNewer(sandbox, state.sandbox)) return false;
  noteInterruption(turn, sandbox);
  state.sandbox = sandbox;
  return true;
}

/** An agent that was at work when its runtime went away is reported as such (D15). */
function noteInterruption(turn: ConversationTurn, sandbox: SandboxSnapshot): void {
  const { state } = turn;
  const wasUp = state.sandbox?.usable === true;
  const sameRuntime = sandbox.usable && sandbox.generation === state.sandbox?.generation;
  if (!wasUp || sameRuntime) return;
  stopWatching(turn);
  abandonCommand(turn);
  if (state.executionStatus === 'RUNNING') state.interrupted = true;
  // It works no more; what it waits for (D6) survives the stop (D15).
  if (state.agentActivity === 'working') state.agentActivity = 'resting';
}

export function isOver(sandbox: SandboxSnapshot | null): boolean {
  return sandbox !== null && (sandbox.status === 'ERROR' || sandbox.status === 'MISSING');
}

/** Wanted and not usable: ask for a resume, a bounded number of times. */
export function askForResume(turn: ConversationTurn, giveUp: (turn: ConversationTurn) => void): void {
  const { state } = turn;
  const atRest =
    state.sandbox?.status === 'PAUSED' && state.sandbox.transition === null && !state.sandbox.usable;
  const leaving = state.sandbox?.transition === 'pausing';
  if (!atRest && !(leaving && state.resumeRequestId === null)) return;
  if (state.resumeRequests >= RESUME_REQUESTS_MAX) return giveUp(turn);
  const requestId = newRequestId(turn);
  state.resumeRequests += 1;
  state.resumeRequestId = requestId;
  const { conversationId, runId } = state.spec;
  const inRun = runId === null ? {} : { inRun: true as const };
  tellSandbox(turn, { type: 'resumeRequested', requestId, conversationId, ...inRun });
}

/** After every turn that changed something: count, project, and tell whoever watches. */
export function settleConversation(before: ConversationState, turn: ConversationTurn): void {
  const { state } = turn;
  state.sequence += 1;
  state.updatedAt = turn.now;
  if (before.agentActivity !== state.agentActivity) noticeSandbox(turn);
  if (state.phase !== 'deleted') turn.order({ type: 'project', rows: [rowOf(state)] });
  if (state.watcher === null) return;
  const conversation = conversationSnapshot(state);
  const was = conversationSnapshot(before);
  if (isSame(was, conversation)) return;
  // What is not told keeps its number: in a history the answers to later commands are found by theirs.
  if (!isNews(was, conversation)) return void (state.commandCount += 1);
  turn.order({ type: 'send', to: state.watcher, event: { type: 'conversationNoticed', conversation } });
}

/** The steps in between are for the record. */
function isSame(before: ConversationSnapshot, after: ConversationSnapshot): boolean {
  return (Object.keys(after) as (keyof ConversationSnapshot)[]).every((field) => {
    if (field === 'sequence') return true;
    if (field === 'startTask') return isFinal(before.startTask) === isFinal(after.startTask);
    return before[field] === after[field];
  });
}

const isFinal = (status: StartTaskStatus): boolean => status === 'READY' || status === 'ERROR';

/** A watcher is told what it acts on; what else has changed comes with that, and would only fill its inbox. */
function isNews(before: ConversationSnapshot, after: ConversationSnapshot): boolean {
  // One that is at work again says so with the status of its agent.
  return (after.settled && !before.settled) || !isSame(actedOn(before), actedOn(after));
}

/** Nobody asks anything of a sandbox that is not up yet, nor of an agent that has its first message before it. */
function actedOn(conversation: ConversationSnapshot): ConversationSnapshot {
  const { sandboxStatus, executionStatus, startTask, settled } = conversation;
  const isUp = sandboxStatus !== null && sandboxStatus !== 'STARTING';
  const hasBegun = startTask !== 'READY' || executionStatus !== 'IDLE' || settled;
  return {
    ...conversation,
    settled: true,
    ...(isUp ? {} : { sandboxId: null, sandboxStatus: null }),
    ...(hasBegun ? {} : { startTask: 'WORKING', executionStatus: null }),
  };
}

function noticeSandbox(turn: ConversationTurn): void {
  const { state } = turn;
  state.agentSequence += 1;
  tellSandbox(turn, {
    type: 'agentNoticed',
    conversationId: state.spec.conversationId,
    sequence: state.agentSequence,
    activity: state.agentActivity,
  });
}

export function rowOf(state: ConversationState): ConversationRow {
  const { spec } = state;
  return {
    table: 'conversation',
    conversationId: spec.conversationId,
    generation: 0,
    sequence: state.sequence,
    userId: spec.userId,
    runId: spec.runId,
    key: spec.key,
    sandboxId: state.sandboxId,
    sandboxStatus: state.sandbox?.status ?? null,
    startTask: state.startTask,
    startTaskDetail: state.startTaskDetail ?? state.waitsFor ?? null,
    executionStatus: state.executionStatus,
    executionStatusAt: state.executionStatusAt,
    queuedMessages: state.queue.length,
    selectedRepository: spec.repository,
    selectedBranch: spec.branch,
    model: spec.model,
    title: spec.title,
    tags: spec.tags,
    ...(spec.codeHost === null ? {} : { codeHost: spec.codeHost }),
    ...(spec.nanoUsdMax === null ? {} : { nanoUsdMax: spec.nanoUsdMax }),
    ...(spec.observability === undefined ? {} : { observability: spec.observability }),
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
  };
}
