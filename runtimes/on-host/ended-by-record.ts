/**
 * Stopping and removing a sandbox of this host: what is wanted is on record before anything ends.
 * Owns this order, so that whoever takes over after a crash goes on with it; must not know what a sandbox is made of.
 */
import type { SandboxId } from '../../core/ids.ts';
import { overtakenOrder } from './order-refusals.ts';
import { removeTree } from './remove-tree.ts';
import type { SandboxTurns } from './sandbox-turns.ts';

/** The part of a record that says what is wanted. */
export interface Wanted {
  readonly generation: number;
  readonly desired: 'up' | 'stopped' | 'destroyed';
}

export interface OnRecord<Record extends Wanted> {
  readonly id: SandboxId;
  readonly turns: SandboxTurns;
  readonly read: () => Promise<Record | null>;
  readonly write: (record: Record) => Promise<void>;
}

/**
 * `end` gets the record as it was before.
 * @throws ParleyError stale_generation: a younger generation was started
 */
export async function stopByRecord<Record extends Wanted>(
  { id, turns, read, write }: OnRecord<Record>,
  generation: number,
  end: (record: Record) => Promise<void>,
): Promise<void> {
  await turns.end({ id, generation }, async () => {
    const record = await read();
    if (record !== null && record.generation > generation)
      throw overtakenOrder('stop', { sandboxId: id, generation }, record.generation);
    turns.rememberEnded({ id, generation });
    if (record === null || record.desired === 'destroyed') return;
    await write({ ...record, generation, desired: 'stopped' });
    await end(record);
  });
}

/** `trees`: with the record last. A removal that was cut off is seen by `list` and simply asked again. */
export async function destroyByRecord<Record extends Wanted>(
  { id, turns, read, write }: OnRecord<Record>,
  trees: readonly string[],
  end: (record: Record | null) => Promise<void>,
): Promise<void> {
  await turns.end({ id, generation: Number.MAX_SAFE_INTEGER }, async () => {
    const record = await read();
    if (record !== null) {
      turns.rememberEnded({ id, generation: record.generation });
      await write({ ...record, desired: 'destroyed' });
    }
    await end(record);
    for (const tree of trees) await removeTree(tree);
  });
}
