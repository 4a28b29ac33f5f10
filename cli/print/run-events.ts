/**
 * What happened to a run as a whole, for people and as records: amendments with who and when, and what it said once.
 * Owns the words; the events were recorded by the run.
 */
import type { LifecycleEvent } from '../../core/machine/projection.ts';
import { AMENDED } from '../../core/run/settings.ts';
import { instant } from '../../core/text/amounts.ts';
import type { JsonRecord } from '../../host/records.ts';
import { cut } from '../../host/terminal-text.ts';

export type RunHappening = LifecycleEvent & { readonly at: number };

const DETAIL_WIDTH = 140;

export function runEventLines(events: readonly RunHappening[]): string[] {
  if (events.length === 0) return [];
  const lines = events.map(({ at, code, detail }) => {
    const what = code === AMENDED ? `amended: ${detail}` : `${code}: ${detail}`;
    return `${instant(at)}  ${cut(what, DETAIL_WIDTH)}`;
  });
  return ['', ...lines];
}

/** An amendment says what changed and by whom, as far as somebody is known; anything else its code. */
export function runEventRecord(runId: string, { at, code, detail }: RunHappening): JsonRecord {
  if (code !== AMENDED) return { type: 'run_event', run_id: runId, at, code, detail };
  const split = detail.lastIndexOf(BY);
  const what = split === -1 ? detail : detail.slice(0, split);
  const by = split === -1 ? null : detail.slice(split + BY.length);
  return { type: 'amendment', run_id: runId, at, what, by };
}

/** As core/run/settings.ts writes it. */
const BY = ', by ';
