/**
 * One sandbox of a world: what it is, and what people and the world do to it.
 * Owns the reading of its state; a state is read anew at every question.
 */
import type { EntityAddress, SandboxId } from '../core/ids.ts';
import { transitionOf, type SandboxState } from '../core/sandbox/state.ts';
import type { PauseReason, SandboxStatus, Transition } from '../core/status.ts';
import type { Loss } from '../simulator/models/runtime-model.ts';
import type { PlayedWorld } from './played-world.ts';
import type { Seen } from './seen.ts';
import { traceText } from './trace-text.ts';

export class SandboxHandle implements Seen {
  readonly sandboxId: SandboxId;
  readonly called: string;
  private readonly world: PlayedWorld;
  private readonly address: EntityAddress;

  constructor(world: PlayedWorld, sandboxId: SandboxId, called: string) {
    this.world = world;
    this.sandboxId = sandboxId;
    this.called = called;
    this.address = { machine: 'sandbox', id: sandboxId };
  }

  get status(): SandboxStatus {
    return this.state.status;
  }

  /** Null unless it is paused. */
  get pauseReason(): PauseReason | null {
    return this.state.pauseReason;
  }

  /** What is going on behind an unchanged status (D8); null for nothing. */
  get transition(): Transition | null {
    return transitionOf(this.state);
  }

  /** Number of its incarnation, from 1. */
  get generation(): number {
    return this.state.generation;
  }

  /** Conversations attached to it. */
  get conversations(): number {
    return Object.keys(this.state.attached).length;
  }

  /** A user pauses it. */
  pause(): void {
    this.world.deliver(this.address, { type: 'pauseRequested', requestId: this.request(), reason: 'user' });
  }

  /** A user brings it back. */
  resume(): void {
    const requestId = this.request();
    this.world.deliver(this.address, { type: 'resumeRequested', requestId, conversationId: null });
  }

  /** A user deletes it. */
  delete(): void {
    this.world.deliver(this.address, { type: 'deleteRequested', requestId: this.request() });
  }

  /** Its runtime dies; that is seen at the next look. */
  crash(): void {
    this.lose('crashed');
  }

  /** Its runtime is removed behind our back. */
  remove(): void {
    this.lose('gone');
  }

  /** Its runtime cannot be asked, and nothing is lost. */
  disconnect(): void {
    this.lose('unknown');
  }

  /** It can be asked again. */
  reconnect(): void {
    this.world.model.find(this.sandboxId);
  }

  trace(): string {
    return traceText(this.world, [this.address]);
  }

  private get state(): SandboxState {
    return this.world.stateOf(this.address) as SandboxState;
  }

  private lose(loss: Loss): void {
    this.world.model.lose(this.sandboxId, loss);
  }

  private request(): string {
    return this.world.newRequestId();
  }
}
