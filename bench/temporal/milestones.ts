/**
 * When a conversation came how far, read from the rows that are committed: the same for every way of doing the work.
 * Owns the instants; must not write rows.
 */
import type { ConversationId } from '../../core/ids.ts';
import type { ConversationRow, ProjectionRow } from '../../core/machine/projection.ts';

export type Milestone = 'READY' | 'FINISHED';

export class Milestones {
  private readonly reached = new Map<string, number>();
  private readonly waiting = new Map<string, () => void>();

  /** To be called with every row that was written. */
  see(rows: readonly ProjectionRow[]): void {
    for (const row of rows) {
      if (row.table !== 'conversation') continue;
      for (const milestone of milestonesOf(row)) this.reach(keyOf(row.conversationId, milestone));
    }
  }

  /** Milliseconds of the process's own clock; waits until it is there. */
  async at(id: ConversationId, milestone: Milestone): Promise<number> {
    const key = keyOf(id, milestone);
    if (!this.reached.has(key)) await new Promise<void>((resolve) => this.waiting.set(key, resolve));
    return this.reached.get(key) ?? Number.NaN;
  }

  private reach(key: string): void {
    if (this.reached.has(key)) return;
    this.reached.set(key, performance.now());
    this.waiting.get(key)?.();
    this.waiting.delete(key);
  }
}

function milestonesOf({ startTask, executionStatus }: ConversationRow): readonly Milestone[] {
  if (startTask !== 'READY') return [];
  return executionStatus === 'FINISHED' ? ['READY', 'FINISHED'] : ['READY'];
}

const keyOf = (id: ConversationId, milestone: Milestone): string => `${milestone} ${id}`;
