/**
 * What lies beside the results of a run's items: why a check failed, and what the results lack.
 * Owns the reading of it; must not word or lay out anything.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CHECK_LOG, lastLines } from '../activities/check-log.ts';
import { FINDINGS_FILE, parseFindings } from '../activities/collect/findings.ts';
import type { RunItemRow } from '../core/machine/projection.ts';
import type { Finding } from '../core/run/items/item-evidence.ts';

export interface ItemEvidence {
  readonly key: string;
  /** The last lines of a check that failed; empty for any other end. */
  readonly check: readonly string[];
  readonly findings: readonly Finding[];
}

/** In the order of the items; without those of which there is nothing to say. `results` is the run's folder. */
export function readEvidence(items: readonly RunItemRow[], results: string): readonly ItemEvidence[] {
  return items
    .filter(({ attempt }) => attempt > 0)
    .map((item) => evidenceOf(item, path.join(results, item.key)))
    .filter(({ check, findings }) => check.length > 0 || findings.length > 0);
}

export function readFindingsIn(folder: string): readonly Finding[] {
  return parseFindings(bytesOf(path.join(folder, FINDINGS_FILE))) ?? [];
}

function evidenceOf({ key, outcome }: RunItemRow, folder: string): ItemEvidence {
  const log = outcome === 'check_failed' ? bytesOf(path.join(folder, CHECK_LOG)) : null;
  return {
    key,
    check: log === null ? [] : lastLines(log.toString('utf8')),
    findings: readFindingsIn(folder),
  };
}

function bytesOf(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}
