/**
 * Moves that several phases of a conversation share: sending to its sandbox, ordering its steps, refusing what waits.
 * Owns what entering a phase orders; which phase to enter is decided by the transition table's handlers.
 */
import type { ErrorCode } from '../error-catalogue.ts';
import { RESUME_REQUESTS_MAX } from '../limits.ts';
import { MESSAGE_REFUSED, START_FAILED } from '../machine/projection.ts';
import type { SandboxEvent } from '../sandbox/message.ts';
import { isNewer, type SandboxSnapshot } from '../machine/snapshot.ts';
import type { StartTaskStatus } from '../status.ts';
import type { StepContext } from '../machine/step-context.ts';
import type { ConversationOrder } from './message.ts';
import type { ConversationPhase, ConversationState } from './state.ts';

export type ConversationContext = StepContext<ConversationState, ConversationOrder>;

/** Steps of a start in order, with the status that shows them (D18). */
const START_STEPS = {
  preparingRepository: { status: 'PREPARING_REPOSITORY', next: 'runningSetupScript' },
  runningSetupScript: { status: 'RUNNING_SETUP_SCRIPT', next: 'settingUpGitHooks' },
  settingUpGitHooks: { status: 'SETTING_UP_GIT_HOOKS', next: 'settingUpSkills' },
  settingUpSkills: { status: 'SETTING_UP_SKILLS', next: 'startingConversation' },
  startingConversation: { status: 'STARTING_CONVERSATION', next: 'active' },
} as const satisfies Partial<Record<ConversationPhase, { status: StartTaskStatus; next: ConversationPhase }>>;

/** What the step before has found out about the next one. */
export interface StepFacts {
  readonly isSetUp?: true;
}

export type StartStep = keyof typeof START_STEPS;

export function isStartStep(phase: ConversationPhase): phase is StartStep {
  return phase in START_STEPS;
}

/** Every command still running for this conversation stops; an answer that still arrives is late by its id. */
export function abandonCommand(context: ConversationContext): void {
  const { state } = context;
  if (state.awaiting !== null) context.order({ type: 'cancelCommand', commandId: state.awaiting });
  state.awaiting = null;
  state.awaitingGeneration = null;
}

export function stopWatching(context: ConversationContext): void {
  if (context.state.watch === null) return;
  context.order({ type: 'cancelCommand', commandId: context.state.watch });
  context.state.watch = null;
}

export function sendToSandbox(context: ConversationContext, event: SandboxEvent): void {
  const { sandboxId } = context.state;
  if (sandboxId !== null) context.order({ type: 'send', to: { machine: 'sandbox', id: sandboxId }, event });
}

/** A request id of our own making: unique because the command count never repeats. */
export function newRequestId({ state }: ConversationContext): string {
  return `conversation/${state.spec.conversationId}?${state.commandCount}`;
}

export function beginStep(context: ConversationContext, step: StartStep, known: StepFacts = {}): void {
  const { state } = context;
  state.phase = step;
  state.startTask = START_STEPS[step].status;
  orderAgent(context, (agent) => stepOrder(state, step, agent, known));
}

export function stepAfter(step: StartStep): ConversationPhase {
  return START_STEPS[step].next;
}

function stepOrder(
  state: ConversationState,
  step: StartStep,
  agent: AgentAddress,
  { isSetUp }: StepFacts,
): ConversationOrder {
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
      return {
        ...{ conversationId, sandboxId, generation, type: 'runSetupScript' },
        ...(isSetUp === true ? { isSetUp } : {}),
      };
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

/** Orders a command of the agent in the present incarnation, and waits for its answer. */
export function orderAgent(
  context: ConversationContext,
  compose: (agent: AgentAddress) => ConversationOrder,
): void {
  const { state } = context;
  if (state.sandbox === null) return;
  state.awaiting = context.order(compose(agentAddress(state, state.sandbox)));
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
export function failStart(context: ConversationContext, code: ErrorCode, reason: string): void {
  const { state } = context;
  // A placement under way is not abandoned: it may have taken a slot already.
  if (state.phase !== 'placing') abandonCommand(context);
  state.phase = 'startFailed';
  state.startTask = 'ERROR';
  state.startTaskDetail = `${code}: ${reason}`;
  state.startDeadline = null;
  // Clients that follow the events of the conversation read the reason there.
  note(context, START_FAILED, state.startTaskDetail);
  releaseSandbox(context);
  state.resumeRequestId = null;
  refuseQueue(context, code, reason);
}

/** The sandbox of a run's item is cleaned up by the run. */
export function releaseSandbox(context: ConversationContext): void {
  const { spec, sandbox, attachRequestId } = context.state;
  // While the attachment has not been answered, its answer is waited for.
  if (spec.runId !== null || attachRequestId !== null || sandbox?.usable !== true) return;
  sendToSandbox(context, { type: 'startFailed', conversationId: spec.conversationId });
}

/** A message is delivered exactly once or refused explicitly, with an event (D7); `continue` is no user's message. */
export function refuseQueue(context: ConversationContext, code: ErrorCode, reason: string): void {
  const { state } = context;
  const { queue } = state;
  state.queue = [];
  for (const item of queue) if (item.kind !== 'continue') refuseMessage(context, item.itemId, code, reason);
}

export function refuseMessage(
  context: ConversationContext,
  messageId: string,
  code: ErrorCode,
  reason: string,
): void {
  note(context, MESSAGE_REFUSED, `${messageId}: ${code}: ${reason}`);
}

function note(context: ConversationContext, code: string, detail: string): void {
  const { conversationId } = context.state.spec;
  const about = { machine: 'conversation', id: conversationId } as const;
  context.order({ type: 'record', event: { about, conversationId, code, detail } });
}

/** True when the snapshot is news; an older one is ignored (newest wins). */
export function acceptSnapshot(context: ConversationContext, sandbox: SandboxSnapshot): boolean {
  const { state } = context;
  if (sandbox.sandboxId !== state.sandboxId || !isNewer(sandbox, state.sandbox)) return false;
  noteInterruption(context, sandbox);
  state.sandbox = sandbox;
  return true;
}

/** An agent that was at work when its runtime went away is reported as such (D15). */
function noteInterruption(context: ConversationContext, sandbox: SandboxSnapshot): void {
  const { state } = context;
  const wasUp = state.sandbox?.usable === true;
  const sameRuntime = sandbox.usable && sandbox.generation === state.sandbox?.generation;
  if (!wasUp || sameRuntime) return;
  stopWatching(context);
  abandonCommand(context);
  if (state.executionStatus === 'RUNNING') state.interrupted = true;
  // It works no more; what it waits for (D6) survives the stop (D15).
  if (state.agentActivity === 'working') state.agentActivity = 'resting';
}

export function isOver(sandbox: SandboxSnapshot | null): boolean {
  return sandbox !== null && (sandbox.status === 'ERROR' || sandbox.status === 'MISSING');
}

/** Wanted and not usable: requests a resume, a bounded number of times. */
export function askForResume(
  context: ConversationContext,
  giveUp: (context: ConversationContext) => void,
): void {
  const { state } = context;
  const atRest =
    state.sandbox?.status === 'PAUSED' && state.sandbox.transition === null && !state.sandbox.usable;
  const leaving = state.sandbox?.transition === 'pausing';
  if (!atRest && !(leaving && state.resumeRequestId === null)) return;
  if (state.resumeRequests >= RESUME_REQUESTS_MAX) return giveUp(context);
  const requestId = newRequestId(context);
  state.resumeRequests += 1;
  state.resumeRequestId = requestId;
  const { conversationId, runId } = state.spec;
  const inRun = runId === null ? {} : { inRun: true as const };
  sendToSandbox(context, { type: 'resumeRequested', requestId, conversationId, ...inRun });
}
