/**
 * Whose runs a caller sees: a user's key its own, an administrator's all of them (D4, D5).
 * Owns that one rule; a foreign run looks exactly like a missing one.
 */
import { LOCAL_USER } from '../../activities/start-conversation.ts';
import { runId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { RunRow } from '../../core/machine/projection.ts';
import type { Application, Principal } from '../application/application.ts';
import { whoseRecords } from '../keys/whose-records.ts';

export function isTheirs(caller: Principal, { userId = LOCAL_USER }: Pick<RunRow, 'userId'>): boolean {
  const whose = whoseRecords(caller);
  return whose === null || whose === userId;
}

/** @throws ParleyError not_found: also for somebody else's */
export async function findRun({ world }: Application, caller: Principal, id: string): Promise<RunRow> {
  const row = await world.records.run(runId(id));
  if (row !== null && isTheirs(caller, row)) return row;
  throw new ParleyError('not_found', 'Run not found');
}
