/**
 * What lies beside the results of a run's items: why a check failed, and what the results lack.
 * Owns the reading of it; must not word or lay out anything.
 */
import { CHECK_LOG, lastLines } from '../../activities/check-log.ts';
import { FINDINGS_FILE, parseFindings } from '../../activities/collect/findings.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import type { RunId } from '../../core/ids.ts';
import type { Finding } from '../../core/run/items/item-evidence.ts';
import type { Results } from '../../ports/results.ts';
import { readEach, readOrNull } from './read-results.ts';

export interface ItemEvidence {
  readonly key: string;
  /** The last lines of a check that failed; empty for any other end. */
  readonly check: readonly string[];
  readonly findings: readonly Finding[];
}

/** In the order of the items; without those of which there is nothing to say. */
export async function readEvidence(
  items: readonly RunItemRow[],
  results: Results,
): Promise<readonly ItemEvidence[]> {
  const begun = items.filter(({ attempt }) => attempt > 0);
  const found = await readEach(begun, (item) => evidenceOf(item, results));
  return found.filter(({ check, findings }) => check.length > 0 || findings.length > 0);
}

export async function readFindings(
  results: Results,
  item: { readonly runId: RunId; readonly key: string },
): Promise<readonly Finding[]> {
  return parseFindings(await readOrNull(results, { ...item, name: FINDINGS_FILE })) ?? [];
}

async function evidenceOf({ runId, key, outcome }: RunItemRow, results: Results): Promise<ItemEvidence> {
  const log = outcome === 'check_failed' ? await readOrNull(results, { runId, key, name: CHECK_LOG }) : null;
  return {
    key,
    check: log === null ? [] : lastLines(new TextDecoder().decode(log)),
    findings: await readFindings(results, { runId, key }),
  };
}
