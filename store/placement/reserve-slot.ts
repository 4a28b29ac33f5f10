/**
 * The slot of a sandbox that resumes, on the host on which it lives.
 * Owns what becomes of one that gets none; inside a transaction that holds the placement lock.
 */
import type { Transaction } from 'kysely';
import type { PlacementStore, SlotOutcome } from '../../ports/placement-store.ts';
import { takeSlot } from './capacity.ts';
import { hostToReturnTo } from './host-of-sandbox.ts';
import { joinLine, leaveLine } from './slot-line.ts';
import type { Tables } from '../schema/tables.ts';
import { isWanted } from './wanted-slot.ts';

/** The slot of a resume, or a place in the line. */
export async function reserveSlot(
  transaction: Transaction<Tables>,
  request: Parameters<PlacementStore['reserveSlot']>[0],
): Promise<SlotOutcome> {
  const { sandboxId: waiterId, userId, waits, now } = request;
  if (!(await isWanted(transaction, request))) return { kind: 'not_wanted' };
  const host = await hostToReturnTo(transaction, waiterId);
  const taken = await takeSlot(transaction, { ...request, waiterId, host });
  const home = host === undefined ? {} : { host: { name: host.name, alsoDraining: true } };
  // Its host is not known any more, or is one of another runtime.
  if (taken.kind === 'no_host') return { kind: 'refused', limit: 0, current: 0 };
  if (taken.kind === 'refused' && waits) {
    await joinLine(transaction, { waiterId, machine: 'sandbox', userId, ...home }, now);
    const { kind: _kind, ...slots } = taken;
    return { kind: 'waits', slots: { ...slots, ofRun: null } };
  }
  if (waits) await leaveLine(transaction, waiterId);
  return taken.kind === 'granted' ? { kind: 'granted' } : taken;
}
