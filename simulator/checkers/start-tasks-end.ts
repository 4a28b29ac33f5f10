/**
 * L6: every start task ends READY, or in ERROR with a reason (D18).
 * Owns the one check; one that goes on has a deadline ahead.
 */
import { PUNCTUAL, type Finding, type Rest } from './checker.ts';
import { conversationsAt } from './states-at-rest.ts';

export function startTasksEnd(rest: Rest): readonly Finding[] {
  const { settleMs } = rest.timeliness ?? PUNCTUAL;
  return conversationsAt(rest).flatMap(({ entity, state }) => {
    const { startTask, startTaskDetail, startDeadline, phase } = state;
    if (startTask === 'READY' || phase === 'deleting' || phase === 'deleted') return [];
    if (startTask === 'ERROR')
      return startTaskDetail === null ? [{ entity, problem: 'its start failed without a reason' }] : [];
    if (startDeadline !== null && startDeadline + settleMs >= rest.now) return [];
    return [{ entity, problem: `its start task is ${startTask}, and nothing ends that` }];
  });
}
