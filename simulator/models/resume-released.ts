/**
 * An order of a run whose sandbox was released: work is checked and collected where it is up again (D7).
 * Owns the request to resume it, and the error that the order is tried again after.
 */
import type { ActivityCommand } from '../../core/machine/command.ts';
import type { CallError } from '../faults/runtime-fates.ts';
import type { ModelPort } from '../model-port.ts';
import type { PlacementModel } from './placement-model.ts';

/** At the longest wait of a patient retry, 15 s. */
const TRIES_PER_MINUTE = 4;
const RESUMING: CallError = {
  reason: 'its sandbox is being resumed',
  code: 'sandbox_starting',
  isDefinite: false,
  afterMs: 0,
};

/** Null: it was not released, or needs no sandbox. */
export function resumeReleased(
  command: ActivityCommand,
  tried: number,
  { port, placement }: { readonly port: ModelPort; readonly placement: PlacementModel },
): CallError | null {
  if (command.type !== 'verifyItem' && command.type !== 'collectItem') return null;
  if (command.type === 'collectItem' && !command.workspaceReadable) return null;
  const { id, conversationId, sandboxId } = command;
  const row = sandboxId === null ? undefined : placement.rows.get(sandboxId);
  if (row === undefined || row.releasedAt === null || row.status === 'MISSING' || row.status === 'ERROR')
    return null;
  // About one request per minute: a resume that failed is requested again.
  const requestId = `resume/${id}/${Math.floor(tried / TRIES_PER_MINUTE)}`;
  port.deliver({ machine: 'conversation', id: conversationId }, { type: 'accessRequested', requestId });
  return RESUMING;
}
