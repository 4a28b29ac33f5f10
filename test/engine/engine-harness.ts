/**
 * One installation in a temporary folder: a real SQLite store, and engines that live and die on it.
 * Owns a store that can be held, failed and cut off; must not know what the machines do.
 */
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { StepRecord } from '../../engine/batch.ts';
import { Engine } from '../../engine/engine.ts';
import type { EngineOptions } from '../../engine/engine-options.ts';
import type { ConversationSpec, ConversationState } from '../../core/conversation/state.ts';
import { conversationId, type ConversationId, type EntityAddress } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { CommitBatch, EngineStore } from '../../ports/engine-store.ts';
import type { Delivery } from '../../ports/notifier.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { CONVERSATION_SPEC } from '../core/conversation-life.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeActivities, type FakeActivities, type Overrides } from './fake-activities.ts';
import { MovableClock, T0 } from './movable-clock.ts';

/** A new, empty store that is closed when the running test ends. */
export async function newStore(): Promise<Store> {
  const store = await openStore({ kind: 'sqlite', path: path.join(tempDir(), 'parley.db') });
  onTestFinished(() => store.close());
  return store;
}

/** The store of one engine's life. */
export class LifeStore implements EngineStore {
  readonly commits: CommitBatch[] = [];
  /** Commits that fail before the next one succeeds. */
  failures = 0;
  /** Runs between the reading of the outbox and its answer. */
  slowOutbox: () => Promise<void> = () => Promise.resolve();
  /** Commits after which nothing reaches the store any more: the process is dead. */
  commitsLeft = Infinity;
  private readonly inner: EngineStore;
  private gate: Promise<void> | null = null;
  private open: () => void = () => undefined;

  constructor(inner: EngineStore) {
    this.inner = inner;
  }

  load = (address: EntityAddress) => this.inner.load(address);
  armed = () => this.inner.armed();
  outbox = async () => {
    const rows = await this.inner.outbox();
    await this.slowOutbox();
    return rows;
  };
  inbox = () => this.inner.inbox();

  /** Commits wait until `release`. */
  hold(): void {
    this.gate = new Promise((resolve) => (this.open = resolve));
  }

  release(): void {
    this.gate = null;
    this.open();
  }

  async commit(batch: CommitBatch): Promise<void> {
    if (this.gate !== null) await this.gate;
    if (this.commitsLeft <= 0) return new Promise(() => undefined);
    if (this.failures > 0) {
      this.failures -= 1;
      throw new ParleyError('store_unavailable', 'Cannot commit a batch: the test says so');
    }
    await this.inner.commit(batch);
    this.commitsLeft -= 1;
    this.commits.push(batch);
  }
}

export interface EngineLife extends FakeActivities {
  readonly engine: Engine;
  readonly clock: MovableClock;
  readonly store: LifeStore;
  readonly steps: StepRecord[];
  /** Dies as by a power cut: nothing it does from now on is visible outside. */
  crash(): void;
}

export interface LifeOptions extends Pick<
  EngineOptions,
  'batchEventsMax' | 'onClockSet' | 'onCommit' | 'onCommitError' | 'onActivityError' | 'onStepError'
> {
  readonly store: { readonly engine: EngineStore };
  readonly now?: number;
  readonly activities?: Overrides;
  /** The process dies after so many commits. */
  readonly commitsLeft?: number;
  readonly slowOutbox?: () => Promise<void>;
}

/** A process begins to work on the store; stopped when the running test ends. */
export async function beginLife(options: LifeOptions): Promise<EngineLife> {
  const {
    store: shared,
    now = T0,
    activities: overrides,
    commitsLeft = Infinity,
    slowOutbox,
    ...rest
  } = options;
  const clock = new MovableClock(now);
  const store = new LifeStore(shared.engine);
  store.commitsLeft = commitsLeft;
  if (slowOutbox !== undefined) store.slowOutbox = slowOutbox;
  const fakes = fakeActivities(clock, overrides);
  const steps: StepRecord[] = [];
  const onStep = (record: StepRecord): void => void steps.push(record);
  const engine = new Engine({ store, activities: fakes.activities, clock, onStep, ...rest });
  await engine.start();
  const crash = (): void => {
    store.commitsLeft = 0;
  };
  onTestFinished(crash);
  return { ...fakes, engine, clock, store, steps, crash };
}

export const conversationAt = (index: number): ConversationId =>
  conversationId(`c${index.toString(16).padStart(31, '0')}`);

export function started(index: number, change: Partial<ConversationSpec> = {}): Delivery {
  const id = conversationAt(index);
  const initialMessage = { messageId: `first-${index}`, text: 't', run: true };
  const spec = { ...CONVERSATION_SPEC, conversationId: id, initialMessage, ...change };
  return { to: { machine: 'conversation', id }, event: { type: 'started', watcher: null, spec } };
}

export function message(index: number, messageId: string): Delivery {
  const event = { type: 'messageReceived', messageId, text: 't', run: true } as const;
  return { to: { machine: 'conversation', id: conversationAt(index) }, event };
}

/** The state that is in the store, not in memory. */
export async function storedConversation(store: Store, index: number): Promise<ConversationState | null> {
  const entity = await store.engine.load({ machine: 'conversation', id: conversationAt(index) });
  return (entity?.state ?? null) as unknown as ConversationState | null;
}
