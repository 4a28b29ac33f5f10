/**
 * A spend log in memory with a switch that makes it fail.
 * Owns the contract of the port as the proxy relies on it; nothing more.
 */
import type { SpendLoss } from '../../core/money/spend-loss.ts';
import type { SpendRow } from '../../core/money/spend.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { CallPage, SpendLog, SpendQuery } from '../../ports/spend-log.ts';

export class MemorySpendLog implements SpendLog {
  readonly rows = new Map<string, SpendRow>();
  readonly lost: SpendLoss[] = [];
  isAway = false;
  writes = 0;

  write(rows: readonly SpendRow[]): Promise<void> {
    if (this.isAway) return this.refuse();
    this.writes += 1;
    for (const row of rows) {
      const known = this.rows.get(row.callId);
      if (row.state !== 'open' || known === undefined || known.state === 'open')
        this.rows.set(row.callId, row);
    }
    return Promise.resolve();
  }

  missing(callIds: readonly string[]): Promise<readonly string[]> {
    return this.isAway ? this.refuse() : Promise.resolve(callIds.filter((id) => !this.rows.has(id)));
  }

  noteLoss(loss: SpendLoss): Promise<void> {
    if (this.isAway) return this.refuse();
    this.lost.push(loss);
    return Promise.resolve();
  }

  losses(): Promise<readonly SpendLoss[]> {
    return Promise.resolve(this.lost);
  }

  search(query: SpendQuery): Promise<readonly SpendRow[]> {
    if (this.isAway) return this.refuse();
    const order = (a: SpendRow, b: SpendRow): number =>
      a.startedAt - b.startedAt || (a.callId < b.callId ? -1 : 1);
    const { after } = query;
    const found = [...this.rows.values()]
      .sort(order)
      .filter(
        (row) =>
          (query.from === undefined || row.startedAt >= query.from) &&
          (query.to === undefined || row.startedAt < query.to) &&
          (query.sessionId === undefined || row.sessionId === query.sessionId) &&
          (after === undefined ||
            row.startedAt > after.startedAt ||
            (row.startedAt === after.startedAt && row.callId > after.callId)),
      );
    return Promise.resolve(found.slice(0, query.limit ?? 1000));
  }

  async joinable(page: CallPage): Promise<SpendRow[]> {
    return [...(await this.search(page))];
  }

  interruptOpen(at: number): Promise<number> {
    if (this.isAway) return this.refuse();
    const open = [...this.rows.values()].filter((row) => row.state === 'open');
    for (const row of open) this.rows.set(row.callId, { ...row, state: 'interrupted', endedAt: at });
    return Promise.resolve(open.length);
  }

  private refuse(): Promise<never> {
    return Promise.reject(new ParleyError('store_unavailable', 'Cannot reach the store: it is away'));
  }
}
