/**
 * Entities whose workflow has ended: what still comes for one is answered from its last state (D11), or makes its
 * workflow begin again, with that state.
 * Owns which of the two; the rules are the machine's, and the state is the store's.
 */
import { addressKey } from '../core/ids.ts';
import { wholeState } from '../core/machine/machine.ts';
import { machineOf } from '../core/machine/machines.ts';
import type { ProjectionRow } from '../core/machine/projection.ts';
import type { Clock } from '../ports/clock.ts';
import type { CommitBatch, EngineStore, Json, StoredEntity } from '../ports/engine-store.ts';
import type { StepRecord } from '../workflows/entity.ts';
import type { AddressedEnvelope } from '../workflows/envelope.ts';

export type TombstoneAnswer =
  /** The answers of the entity to the envelope, which needs nothing more. */
  | { readonly kind: 'answered'; readonly envelopes: readonly AddressedEnvelope[] }
  /** It only rests, and the envelope is more than an answer: its workflow has to take it. */
  | { readonly kind: 'takeUp' };

/** Answers for entities that have ended. */
export interface Tombstones {
  /** Null unless the store has the entity and its workflow has ended. */
  answer(envelope: AddressedEnvelope): Promise<TombstoneAnswer | null>;
}

/** `onStep` receives the step behind an answer, though no workflow takes it. */
export function tombstones(
  store: Pick<EngineStore, 'load' | 'commit'>,
  clock: Clock,
  onStep?: (step: StepRecord) => void,
): Tombstones {
  const queue = new KeyedQueue();
  const world = { store, clock, onStep };
  return { answer: (envelope) => queue.take(addressKey(envelope.to), () => answerTo(envelope, world)) };
}

interface Graveyard {
  readonly store: Pick<EngineStore, 'load' | 'commit'>;
  readonly clock: Clock;
  readonly onStep: ((step: StepRecord) => void) | undefined;
}

async function answerTo(
  envelope: AddressedEnvelope,
  { store, clock, onStep }: Graveyard,
): Promise<TombstoneAnswer | null> {
  const stored = await store.load(envelope.to);
  if (stored?.done !== true) return null;
  const machine = machineOf(envelope.to.machine);
  // An entity of the embedded engine may lie in parts; what is written here is whole.
  const was = wholeState(machine, stored);
  const at = clock.now();
  const { state, commands } = machine.step(was, envelope.event, at);
  if (state !== was && !machine.done(was)) return { kind: 'takeUp' };
  const rows = commands.flatMap((command): readonly ProjectionRow[] =>
    command.type === 'project' ? command.rows : [],
  );
  const { address, deadline, done } = stored;
  if (state !== was)
    await store.commit(rowsAndState(rows, { address, state: state as Json, deadline, done }));
  if (state !== was || commands.length > 0)
    onStep?.({ address, at, event: envelope.event, after: state, commands });
  // An ended entity orders nothing that a worker would have to carry out.
  const envelopes = commands.flatMap((command) =>
    command.type === 'send'
      ? [{ to: command.to, id: `${envelope.id}>${command.id}`, event: command.event }]
      : [],
  );
  return { kind: 'answered', envelopes };
}

/** Two answers for one entity at once would both rest on the same state, and one of them would be lost. */
class KeyedQueue {
  private readonly last = new Map<string, Promise<unknown>>();

  async take<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    const before = this.last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.last.get(key) === mine) this.last.delete(key);
    }
  }
}

/** A batch of rows, and the state of an entity that has ended. */
export function rowsAndState(rows: readonly ProjectionRow[], entity: StoredEntity | null): CommitBatch {
  return {
    entities: entity === null ? [] : [entity],
    outboxAdded: [],
    outboxRetried: [],
    outboxRemoved: [],
    inboxAdded: [],
    inboxRemoved: [],
    projections: rows,
  };
}
