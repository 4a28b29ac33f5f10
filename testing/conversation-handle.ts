/**
 * One conversation of a world: what it is, and what its user does.
 * Owns the reading of its state; a state is read anew at every question.
 */
import type { ConversationState } from '../core/conversation/state.ts';
import type { ConversationId, EntityAddress, SandboxId } from '../core/ids.ts';
import { NANO_PER_USD } from '../core/money/money.ts';
import type { ExecutionStatus, PauseReason, SandboxStatus, StartTaskStatus } from '../core/status.ts';
import type { PlayedWorld } from './played-world.ts';
import { SandboxHandle } from './sandbox-handle.ts';
import type { SeenWork } from './seen.ts';
import { traceText } from './trace-text.ts';

export class ConversationHandle implements SeenWork {
  readonly id: ConversationId;
  readonly name: string;
  private readonly world: PlayedWorld;
  private readonly address: EntityAddress;

  constructor(world: PlayedWorld, id: ConversationId, name: string) {
    this.world = world;
    this.id = id;
    this.name = name;
    this.address = { machine: 'conversation', id };
  }

  get called(): string {
    return `the conversation "${this.name}"`;
  }

  /** Null before it is placed. */
  get sandboxId(): SandboxId | null {
    return this.state.sandboxId;
  }

  /** @throws Error before it is placed */
  get sandbox(): SandboxHandle {
    const id = this.sandboxId;
    if (id === null || this.world.stateOf({ machine: 'sandbox', id }) === null)
      throw new Error(`Cannot find the sandbox of "${this.name}": it has none after ${this.world.elapsed}`);
    return new SandboxHandle(this.world, id, `the sandbox of "${this.name}"`);
  }

  /** Of its sandbox, as users see it; null while there is none. */
  get status(): SandboxStatus | null {
    return this.sandboxId === null ? null : this.sandbox.status;
  }

  get pauseReason(): PauseReason | null {
    return this.sandboxId === null ? null : this.sandbox.pauseReason;
  }

  /** What the agent does, as last known; null before it does anything. */
  get executionStatus(): ExecutionStatus | null {
    return this.state.executionStatus;
  }

  /** How far its start has come. */
  get startTask(): StartTaskStatus {
    return this.state.startTask;
  }

  /** Messages that wait for the agent. */
  get queued(): number {
    return this.state.queue.length;
  }

  /** What the gateway billed so far, in USD. */
  get costUsd(): number {
    return this.world.model.spentBy(this.id, this.world.now) / NANO_PER_USD;
  }

  /** The agent's own word, once it rests for good; null before. The outcome of an item is its run's business. */
  get outcome(): ExecutionStatus | null {
    const { executionStatus } = this;
    return executionStatus === 'FINISHED' || executionStatus === 'ERROR' || executionStatus === 'STUCK'
      ? executionStatus
      : null;
  }

  /** A message that the agent works on; whatever is paused comes back for it. */
  send(text: string): void {
    const messageId = this.world.newRequestId();
    this.world.model.accepted.set(messageId, this.id);
    this.world.deliver(this.address, { type: 'messageReceived', messageId, text, run: true });
  }

  interrupt(): void {
    this.world.deliver(this.address, { type: 'interruptRequested', requestId: this.world.newRequestId() });
  }

  /** Its user reads the workspace, which brings a released sandbox back (D7). */
  access(): void {
    this.world.deliver(this.address, { type: 'accessRequested', requestId: this.world.newRequestId() });
  }

  /** Answers the agent's question. */
  confirm(accept = true): void {
    const requestId = this.world.newRequestId();
    this.world.deliver(this.address, { type: 'confirmationAnswered', requestId, accept, reason: '' });
  }

  delete(): void {
    this.world.deliver(this.address, { type: 'deleteRequested', requestId: this.world.newRequestId() });
  }

  trace(): string {
    const { sandboxId: id } = this;
    const sandbox: EntityAddress[] = id === null ? [] : [{ machine: 'sandbox', id }];
    return traceText(this.world, [this.address, ...sandbox]);
  }

  private get state(): ConversationState {
    return this.world.stateOf(this.address) as ConversationState;
  }
}
