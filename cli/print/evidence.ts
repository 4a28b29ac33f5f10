/**
 * Why checks failed and what results lack, as lines for people and as records.
 * Owns the words and how many are shown.
 */
import { findingWords } from '../../core/run/items/item-evidence.ts';
import type { ItemEvidence } from '../run-results.ts';
import type { JsonRecord } from '../../host/records.ts';
import { cut } from '../../host/terminal-text.ts';

/** Each has up to twenty lines; the others are in the logs. */
const CHECKS_SHOWN_MAX = 3;
const FINDINGS_SHOWN_MAX = 10;
const WIDTH = 200;

/** The last lines of each failed check, under its key. */
export function checkLines(
  evidence: readonly ItemEvidence[],
  shownMax: number = CHECKS_SHOWN_MAX,
): readonly string[] {
  const failed = evidence.filter(({ check }) => check.length > 0);
  const rest = failed.length - shownMax;
  return [
    ...failed
      .slice(0, shownMax)
      .flatMap(({ key, check }) => [
        `the check of ${cut(key, WIDTH)} ended with:`,
        ...check.map((line) => `  | ${cut(line.replaceAll('\r', ' '), WIDTH)}`),
      ]),
    ...(rest > 0 ? [`and ${rest} more failed checks; see logs --failed`] : []),
  ];
}

/** What is withheld for a secret comes first. */
export function findingLines(evidence: readonly ItemEvidence[]): readonly string[] {
  const all = evidence.flatMap(({ key, findings }) => findings.map((finding) => ({ key, finding })));
  const sorted = [
    ...all.filter(({ finding }) => finding.code === 'secret'),
    ...all.filter(({ finding }) => finding.code !== 'secret'),
  ];
  if (sorted.length === 0) return [];
  const rest = sorted.length - FINDINGS_SHOWN_MAX;
  return [
    'not in the results:',
    ...sorted
      .slice(0, FINDINGS_SHOWN_MAX)
      .map(({ key, finding }) => `  ${cut(`${key}: ${findingWords(finding)}`, WIDTH)}`),
    ...(rest > 0 ? [`  and ${rest} more; see findings.json of each`] : []),
  ];
}

export function evidenceRecord({ key, check, findings }: ItemEvidence): JsonRecord {
  return { type: 'evidence', key, check, findings };
}
