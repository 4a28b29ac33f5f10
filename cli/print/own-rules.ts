/**
 * Conversations that end, are tried again or are kept otherwise than the run, as lines of a plan.
 * Owns the words; what holds for the run stands in lines of its own.
 */
import { canonicalJson } from '../../core/canonical-json.ts';
import { counted } from '../../core/text/counted.ts';
import type { Plan, PlanItem, PlanWait } from '../../core/plan/plan.ts';
import { duration } from '../../core/text/amounts.ts';

/** A longer list is for --expanded. */
const LINES_MAX = 10;

/** One line for each entry, and for each set of rules in it. */
export function ownRulesLines(plan: Plan): string[] {
  const groups = new Map<string, { readonly item: PlanItem; count: number }>();
  for (const item of plan.items) {
    const { entry, retry, wait, collect } = item;
    if (retry === undefined && wait === undefined && collect === undefined) continue;
    const name = canonicalJson({ entry, retry, wait, collect });
    const group = groups.get(name) ?? { item, count: 0 };
    group.count += 1;
    groups.set(name, group);
  }
  const lines = [...groups.values()].map(({ item, count }) => {
    const said = [...waitWords(item.wait, plan.wait), ...retryWords(item), ...collectWords(item)];
    return `${item.entry}, ${counted(count, 'conversation')}: ${said.join('; ')}`;
  });
  if (lines.length <= LINES_MAX) return lines;
  return [...lines.slice(0, LINES_MAX), `and ${lines.length - LINES_MAX} more with rules of their own`];
}

/** What is other than in the run. */
function waitWords(own: PlanWait | undefined, run: PlanWait): string[] {
  if (own === undefined) return [];
  return [
    ...(canonicalJson(own.until) === canonicalJson(run.until) ? [] : [`ends ${own.until.join(', ')}`]),
    ...(own.deadlineMs === run.deadlineMs ? [] : [lengthWords('deadline', own.deadlineMs)]),
    ...(own.noProgressMs === run.noProgressMs ? [] : [lengthWords('no progress', own.noProgressMs)]),
    ...(own.onSessionLimit === run.onSessionLimit ? [] : [`at the session limit ${own.onSessionLimit}`]),
  ];
}

function lengthWords(name: string, ms: number | null): string {
  return ms === null ? `${name}: no limit` : `${name} ${duration(ms)}`;
}

function retryWords({ retry }: PlanItem): string[] {
  if (retry === undefined) return [];
  if (retry.length === 0) return ['no retry'];
  return retry.map(({ on, attempts }) => `retry ${on.join(', ')} ${counted(attempts, 'time')}`);
}

function collectWords({ collect }: PlanItem): string[] {
  if (collect === undefined) return [];
  return [
    collect.length === 0 ? 'collects nothing' : `collect ${collect.map(({ kind }) => kind).join(', ')}`,
  ];
}
