/**
 * Pushed branches as lines and as records.
 * Owns the words; which there are is read elsewhere.
 */
import type { Delivery } from '../run-results.ts';
import type { JsonRecord } from '../../host/records.ts';
import { cut } from '../../host/terminal-text.ts';

/** What is more is in --json. */
const SHOWN_MAX = 10;
const PROBLEM_WIDTH = 200;

/** Counts, then what was not pushed and why. */
export function deliveryLines(deliveries: readonly Delivery[]): string[] {
  if (deliveries.length === 0) return [];
  const counts = deliveryCounts(deliveries);
  const troubles = deliveries.filter(({ state }) => state === 'failed' || state === 'pushing');
  return [
    `branches: ${counts.pushed} pushed, ${counts.nothing} without a change, ${counts.failed} not pushed`,
    ...pullRequestLines(deliveries),
    ...troubles
      .slice(0, SHOWN_MAX)
      .map(
        ({ key, problem }) => `  ${key}: ${cut(problem?.message ?? 'the push was cut off', PROBLEM_WIDTH)}`,
      ),
    ...(troubles.length > SHOWN_MAX ? [`  and ${troubles.length - SHOWN_MAX} more; see --json`] : []),
  ];
}

/** Where each is, then what became of those that are not there, or not as the job says. */
function pullRequestLines(deliveries: readonly Delivery[]): string[] {
  const asked = deliveries.flatMap(({ key, pullRequest }) =>
    pullRequest === null ? [] : [{ key, ...pullRequest }],
  );
  if (asked.length === 0) return [];
  const there = asked.filter(({ url, state }) => url !== null && state !== 'failed');
  const lacking = asked.flatMap(({ key, notes, problem }) => {
    const remedy = problem?.remedy == null ? '' : ` (${problem.remedy})`;
    return [...(problem === null ? [] : [`${problem.message}${remedy}`]), ...notes].map(
      (words) => `  ${key}: ${words}`,
    );
  });
  const failed = asked.length - there.length;
  return [
    `pull requests: ${there.length} there${failed === 0 ? '' : `, ${failed} not opened`}`,
    ...bounded(there.map(({ key, url, state }) => `  ${key}: ${url ?? ''}${ENDED[state] ?? ''}`)),
    ...bounded(lacking.map((line) => cut(line, PROBLEM_WIDTH))),
  ];
}

const ENDED: Readonly<Record<string, string>> = { closed: ' (closed)', merged: ' (merged)' };

function bounded(lines: readonly string[]): readonly string[] {
  if (lines.length <= SHOWN_MAX) return lines;
  return [...lines.slice(0, SHOWN_MAX), `  and ${lines.length - SHOWN_MAX} more; see --json`];
}

export function deliveryCounts(deliveries: readonly Delivery[]): {
  readonly pushed: number;
  readonly nothing: number;
  readonly failed: number;
} {
  const count = (...states: readonly Delivery['state'][]): number =>
    deliveries.filter(({ state }) => states.includes(state)).length;
  return { pushed: count('pushed'), nothing: count('nothing'), failed: count('failed', 'pushing') };
}

/** One for each branch that is to have one. */
export function pullRequestRecords(deliveries: readonly Delivery[]): readonly JsonFields[] {
  return deliveries.flatMap(({ key, pullRequest }) =>
    pullRequest === null ? [] : [{ key, state: pullRequest.state, url: pullRequest.url }],
  );
}

type JsonFields = Readonly<Record<string, unknown>>;

export function deliveryRecord({
  key,
  state,
  repository,
  branch,
  commit,
  problem,
  pullRequest,
}: Delivery): JsonRecord {
  const opened = pullRequest === null ? {} : { pull_request: pullRequest };
  return { type: 'delivery', key, state, repository, branch, commit, problem, ...opened };
}
