/**
 * L3: what is due for deletion is deleted (D10); a failed archive holds it up (D12).
 * Owns the one check on released sandboxes.
 */
import { PUNCTUAL, type Finding, type Rest } from './checker.ts';
import { sandboxesAt } from './states-at-rest.ts';

export function deletionsHappen(rest: Rest): readonly Finding[] {
  const { settleMs } = rest.timeliness ?? PUNCTUAL;
  return sandboxesAt(rest).flatMap(({ entity, state }) => {
    const { phase, limits, releasedAt, archive } = state;
    if (phase !== 'released' && phase !== 'error') return [];
    if (releasedAt === null || limits.deletionTimeMs === null || archive === 'archive_failed') return [];
    const overMs = rest.now - releasedAt - limits.deletionTimeMs - settleMs;
    return overMs > 0 ? [{ entity, problem: `its deletion is due since ${overMs} ms` }] : [];
  });
}
