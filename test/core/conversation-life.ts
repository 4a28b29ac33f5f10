/**
 * Conversations in every phase, reached the way they are reached in life.
 * Owns the events a test sends and the snapshots its sandbox would send; must not run a sandbox.
 */
import { conversationMachine, type ConversationCommand } from '../../core/conversation/machine.ts';
import type { AgentReport, ConversationEvent } from '../../core/conversation/message.ts';
import type { ConversationSpec, ConversationState } from '../../core/conversation/state.ts';
import type { ErrorCode } from '../../core/error-catalogue.ts';
import type { SandboxSnapshot } from '../../core/machine/snapshot.ts';
import { Life } from './life.ts';
import { FIRST, SANDBOX, USER } from './sandbox-life.ts';

export const CONVERSATION_SPEC: ConversationSpec = {
  conversationId: FIRST,
  userId: USER,
  runId: null,
  key: null,
  itemIndex: null,
  title: null,
  repository: null,
  branch: null,
  codeHost: null,
  model: null,
  tags: {},
  strategy: 'NO_GROUPING',
  sandboxId: null,
  initialMessage: { messageId: 'm0', text: 'hello', run: true },
  iterationsMax: 10,
  confirmation: 'never',
  nanoUsdMax: null,
  noProgressMs: null,
};

/** A snapshot of the sandbox, always newer than the one before. */
export function snapshot(
  change: Partial<SandboxSnapshot>,
  before: SandboxSnapshot | null = null,
): SandboxSnapshot {
  const base: SandboxSnapshot = before ?? {
    sandboxId: SANDBOX,
    generation: 1,
    sequence: 0,
    status: 'STARTING',
    pauseReason: null,
    transition: null,
    usable: false,
    detail: null,
  };
  return { ...base, sequence: base.sequence + 1, ...change };
}

export const UP = { status: 'RUNNING', usable: true, transition: null, pauseReason: null } as const;
export const PAUSING = { status: 'RUNNING', usable: false, transition: 'pausing' } as const;
export const RELEASED = { status: 'PAUSED', usable: false, transition: null, pauseReason: 'idle' } as const;
export const GONE = { status: 'MISSING', usable: false, transition: null, detail: 'deleted' } as const;

export class ConversationLife extends Life<ConversationState | null, ConversationEvent, ConversationCommand> {
  private requests = 0;

  constructor(change: Partial<ConversationSpec> = {}) {
    super(conversationMachine, null);
    this.send({ type: 'started', spec: { ...CONVERSATION_SPEC, ...change }, watcher: null });
  }

  get its(): ConversationState {
    if (this.state === null) throw new Error('Cannot look at the conversation: it is not born');
    return this.state;
  }

  answer(type: ConversationEvent['type'], rest: object = {}): this {
    const commandId = this.its.awaiting ?? 'none';
    return this.send({ type, commandId, ...rest } as unknown as ConversationEvent);
  }

  placed(sandboxId = SANDBOX): this {
    return this.answer('placed', { sandboxId, spec: null });
  }

  attachAnswered(accepted: boolean, sandbox: Partial<SandboxSnapshot> = {}): this {
    const requestId = this.its.attachRequestId ?? 'none';
    const told = snapshot(
      { ...(this.its.sandboxId && { sandboxId: this.its.sandboxId }), ...sandbox },
      this.its.sandbox,
    );
    return this.send({ type: 'attachAnswered', requestId, accepted, sandbox: told });
  }

  notice(change: Partial<SandboxSnapshot>): this {
    return this.send({ type: 'sandboxNoticed', sandbox: snapshot(change, this.its.sandbox) });
  }

  resumeAnswered(refusal: ErrorCode | null, change: Partial<SandboxSnapshot> = {}): this {
    const requestId = this.its.resumeRequestId ?? 'none';
    return this.send({
      type: 'resumeAnswered',
      requestId,
      refusal,
      sandbox: snapshot(change, this.its.sandbox),
    });
  }

  /** Released and up again as the next incarnation. */
  comeBack(): this {
    const generation = (this.its.sandbox?.generation ?? 0) + 1;
    return this.notice({ ...RELEASED, transition: 'resuming', generation, sequence: 1 }).notice(UP);
  }

  report(status: AgentReport['status'], change: Partial<AgentReport> = {}): AgentReport {
    return {
      status,
      pausedReason: null,
      at: this.now,
      generation: this.its.sandbox?.generation ?? 0,
      limitReached: null,
      retryAt: null,
      detail: null,
      ...change,
    };
  }

  reported(status: AgentReport['status'], change: Partial<AgentReport> = {}): this {
    return this.send({ type: 'agentReported', commandId: null, report: this.report(status, change) });
  }

  delivered(status: AgentReport['status'] = 'RUNNING'): this {
    return this.answer('itemDelivered', { itemId: this.its.queue[0]?.itemId, report: this.report(status) });
  }

  message(messageId = this.request()): this {
    return this.send({ type: 'messageReceived', messageId, text: 't', run: true });
  }

  ask(type: 'interruptRequested' | 'accessRequested' | 'continueRequested' | 'deleteRequested'): this {
    return this.send({ type, requestId: this.request() });
  }

  timer(): this {
    return this.expire({ type: 'deadline' });
  }

  /** Codes of the lifecycle events of the latest step. */
  recorded(): readonly string[] {
    return this.orders.flatMap((order) => (order.type === 'record' ? [order.event.code] : []));
  }

  private request(): string {
    this.requests += 1;
    return `q${this.requests}`;
  }
}

export const placing = (change: Partial<ConversationSpec> = {}) => new ConversationLife(change);
export const attaching = () => placing().placed();
export const waiting = () => attaching().attachAnswered(true);
export const preparing = () => waiting().notice(UP);
export const settingUp = () => preparing().answer('repositoryPrepared');
export const hooking = () => settingUp().answer('setupScriptRan');
export const skilling = () => hooking().answer('gitHooksSetUp');
export const opening = () => skilling().answer('skillsSetUp');
/** READY, with its first message on the way to the agent. */
export const ready = () => {
  const life = opening();
  return life.answer('agentOpened', { report: life.report('IDLE') });
};
export const working = () => ready().delivered();
export const idle = () => working().reported('IDLE');
export const readOnly = () => idle().notice(GONE);
export const startFailed = () => preparing().answer('stepFailed', { code: 'repository_failed', reason: 'r' });
export const deleting = () => idle().ask('deleteRequested');
export const deleted = () => deleting().answer('conversationRemoved', { sandboxToRemove: true });
