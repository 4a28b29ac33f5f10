/**
 * One run of a world, and the items of its plan.
 * Owns the reading of its state; a state is read anew at every question.
 */
import type { EntityAddress, RunId } from '../core/ids.ts';
import { NANO_PER_USD } from '../core/money/money.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { ItemPhase, RunMode, RunPhase } from '../core/machine/projection.ts';
import type { RunItem, RunState } from '../core/run/state.ts';
import type { Outcome, PauseReason, SandboxStatus } from '../core/status.ts';
import { hostedItem } from '../simulator/hosted-item.ts';
import { ConversationHandle } from './conversation-handle.ts';
import type { PlayedWorld } from './played-world.ts';
import type { SeenWork } from './seen.ts';
import { traceText } from './trace-text.ts';

/** A run that was started in a world. */
export class RunHandle {
  readonly id: RunId;
  readonly plan: Plan;
  private readonly world: PlayedWorld;
  private readonly address: EntityAddress;

  constructor(world: PlayedWorld, id: RunId, plan: Plan) {
    this.world = world;
    this.id = id;
    this.plan = plan;
    this.address = { machine: 'run', id };
  }

  get phase(): RunPhase {
    return this.state.phase;
  }

  get mode(): RunMode {
    return this.state.mode;
  }

  /** Why it is held; null when it is not. */
  get reason(): string | null {
    return this.state.reason;
  }

  /** Of everything collected so far. */
  get costUsd(): number {
    return this.state.spentNanoUsd / NANO_PER_USD;
  }

  get items(): readonly ItemHandle[] {
    return this.plan.items.map(({ key }) => this.item(key));
  }

  /** @throws Error when the plan has no such key */
  item(key: string): ItemHandle {
    const index = this.plan.items.findIndex((item) => item.key === key);
    if (index === -1) throw new Error(`Cannot find "${key}": the plan has no item of that key`);
    return new ItemHandle(this.world, this.address, { key, index });
  }

  cancel(): void {
    this.world.deliver(this.address, { type: 'cancelRequested', requestId: this.world.newRequestId() });
  }

  drain(): void {
    this.world.deliver(this.address, { type: 'drainRequested', requestId: this.world.newRequestId() });
  }

  private get state(): RunState {
    return this.world.stateOf(this.address) as RunState;
  }
}

/** One conversation that a plan asks for. */
export class ItemHandle implements SeenWork {
  readonly key: string;
  private readonly index: number;
  private readonly world: PlayedWorld;
  private readonly run: EntityAddress;

  constructor(
    world: PlayedWorld,
    run: EntityAddress,
    { key, index }: { readonly key: string; readonly index: number },
  ) {
    this.world = world;
    this.run = run;
    this.key = key;
    this.index = index;
  }

  get called(): string {
    return `the item "${this.key}"`;
  }

  get phase(): ItemPhase {
    return this.state.phase;
  }

  /** Attempts begun. */
  get attempts(): number {
    return this.state.attempt;
  }

  /** Null before the end. */
  get outcome(): Outcome | null {
    const { phase, ending } = this.state;
    return phase === 'ended' ? (ending?.outcome ?? null) : null;
  }

  /** Of all attempts, as collected so far. */
  get costUsd(): number {
    return this.state.costNanoUsd / NANO_PER_USD;
  }

  /** The conversation of the present attempt; null before it has one. */
  get conversation(): ConversationHandle | null {
    const { conversationId } = this.state;
    if (
      conversationId === null ||
      this.world.stateOf({ machine: 'conversation', id: conversationId }) === null
    )
      return null;
    return new ConversationHandle(this.world, conversationId, this.key);
  }

  get status(): SandboxStatus | null {
    return this.conversation?.status ?? null;
  }

  get pauseReason(): PauseReason | null {
    return this.conversation?.pauseReason ?? null;
  }

  trace(): string {
    return this.conversation?.trace() ?? traceText(this.world, [this.run]);
  }

  private get state(): RunItem {
    const item = hostedItem(this.world, this.world.stateOf(this.run) as RunState, this.index);
    if (item === null) throw new Error(`Cannot find "${this.key}": the run has no such item`);
    return item;
  }
}
