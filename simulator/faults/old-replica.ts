/**
 * Reads of a replica that lags: a placement sees a sandbox as it was.
 * Owns which sandbox is misread; once healed, every read is of the newest row.
 */
import type { ActivityCommand } from '../../core/command.ts';
import type { PlacementModel } from '../models/placement-model.ts';
import { senderOf, type Opportunities } from './opportunities.ts';

export class OldReplica {
  private readonly opportunities: Opportunities;
  private readonly placement: PlacementModel;

  constructor(opportunities: Opportunities, placement: PlacementModel) {
    this.opportunities = opportunities;
    this.placement = placement;
  }

  /** A placement begins: some sandbox of its user may be read as it was when it was available. */
  look(command: ActivityCommand): void {
    if (command.type !== 'placeConversation' || !this.opportunities.any('store_old_replica')) return;
    const ids = [...this.placement.rows.values()]
      .filter(({ userId }) => userId === command.userId)
      .map(({ sandboxId }) => sandboxId);
    const sender = senderOf(command.id);
    const where = this.opportunities.name('place', sender);
    const lags = ids.length === 0 ? null : this.opportunities.strikes('store_old_replica', where, sender);
    const id = lags === null ? undefined : ids[Math.floor(lags.next() * ids.length)];
    if (id !== undefined) this.placement.mislead(id);
  }

  heal(): void {
    this.placement.readAnew();
  }
}
