/**
 * The reports of a run without what differs from one run to the next: instants, times, ids of sandboxes and conversations.
 * Owns what counts as such; everything else is left as it stands.
 */
import type { Results } from './results.ts';

export interface NormalizedReport {
  /** One for each conversation, in the order of the plan. */
  readonly records: readonly Readonly<Record<string, unknown>>[];
  readonly markdown: string;
  /** How many sandboxes the conversations were in. */
  readonly sandboxes: number;
}

/** Fields of a record that no two runs have in common. */
const OWN_FIELDS = ['conversation_id', 'sandbox_id', 'admitted_at', 'ended_at', 'duration_ms'];

/** Which sandbox the third conversation joins depends on who is faster. */
export function normalizedReport(results: Results): NormalizedReport {
  const records = results
    .text('report.jsonl')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const sandboxes = new Set(records.map((record) => record['sandbox_id'])).size;
  return {
    records: records.map((record) =>
      Object.fromEntries(Object.entries(record).filter(([name]) => !OWN_FIELDS.includes(name))),
    ),
    markdown: results
      .text('report.md')
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, 'INSTANT')
      .replaceAll(/\| [0-9a-f]{8} \|/g, '| SANDBOX |')
      .replaceAll(/\| (\d+ (min|s|ms) ?)+ ?\|/g, '| TIME |')
      .replaceAll(/clocks differ by -?\d+ ms/g, 'clocks differ by TIME'),
    sandboxes,
  };
}

/** Asks the job of a copied batch for records besides its other reports. */
export function withRecords(job: string): string {
  return job.replace('  - { to: report.md }\n', '  - { to: report.md }\n  - { to: report.jsonl }\n');
}
