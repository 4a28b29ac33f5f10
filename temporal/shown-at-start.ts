/**
 * What an operator sees of a workflow from its start on: whose it is, in a memo and a sentence, and whose turn it counts as.
 * Owns the choice; a server keeps memo and sentence sealed, and the key of fairness in clear.
 */
import type { Priority } from '@temporalio/common';
import type { MachineName } from '../core/ids.ts';
import type { ProjectionRow } from '../core/machine/projection.ts';
import { shortened } from '../core/text/shorten.ts';

/** A server takes 400 bytes for a summary, 64 for a key of fairness; a memo is read by people. */
const SUMMARY_BYTES_MAX = 400;
const FAIRNESS_BYTES_MAX = 64;
const MEMO_BYTES_MAX = 255;

export interface ShownAtStart {
  readonly memo: Readonly<Record<string, string>>;
  readonly staticSummary: string;
  /** Where a server is fair, no owner's batch keeps the work of others waiting. */
  readonly priority?: Priority;
}

/** Of the first rows; null where the entity has none, as a shard. */
export function shownAtStart(machine: MachineName, rows: readonly ProjectionRow[]): ShownAtStart | null {
  const row = rows.findLast((one) => one.table === machine);
  switch (row?.table) {
    case 'sandbox':
      return shown(row.userId, {}, `sandbox of ${row.userId}`);
    case 'conversation': {
      const { userId: owner, runId: run, key, title } = row;
      const whose = run === null ? `conversation of ${owner}` : `item ${key ?? ''} of run ${run}`;
      return shown(owner, { run, key, title }, title === null ? whose : `${whose}: ${title}`);
    }
    case 'run':
      return shown(row.userId ?? null, { name: row.name }, `run of job ${row.name}, ${row.total} items`);
    case 'run_item':
    case undefined:
      return null;
  }
}

function shown(
  owner: string | null,
  others: Readonly<Record<string, string | null>>,
  summary: string,
): ShownAtStart {
  const memo = Object.entries({ owner, ...others }).flatMap(([name, text]) =>
    text === null ? [] : [[name, shortened(text, MEMO_BYTES_MAX)] as const],
  );
  return {
    memo: Object.fromEntries(memo),
    staticSummary: shortened(summary, SUMMARY_BYTES_MAX),
    ...(owner === null ? {} : { priority: { fairnessKey: shortened(owner, FAIRNESS_BYTES_MAX) } }),
  };
}
