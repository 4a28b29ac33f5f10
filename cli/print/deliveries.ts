/**
 * Pushed branches as lines and as records.
 * Owns the words; which there are is read elsewhere.
 */
import type { Delivery } from '../run-results.ts';
import type { JsonRecord } from '../../host/records.ts';
import { cut } from '../../host/terminal-text.ts';
import { boundedLines } from './bounded-lines.ts';

/** What is more is in --json. */
const SHOWN_MAX = 10;
const PROBLEM_WIDTH = 200;

/** Counts, then what was not pushed and why. */
export function deliveryLines(deliveries: readonly Delivery[]): string[] {
  if (deliveries.length === 0) return [];
  const counts = deliveryCounts(deliveries);
  const troubles = deliveries
    .filter(({ state }) => state === 'failed' || state === 'pushing')
    .map(({ key, problem }) => `  ${key}: ${cut(problem?.message ?? 'the push was cut off', PROBLEM_WIDTH)}`);
  return [
    `branches: ${counts.pushed} pushed, ${counts.nothing} without a change, ${counts.failed} not pushed`,
    ...pullRequestLines(deliveries),
    ...boundedLines(troubles, SHOWN_MAX),
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
    const said = [...(problem === null ? [] : [`${problem.message}${remedy}`]), ...notes];
    return said.map((words) => cut(`  ${key}: ${words}`, PROBLEM_WIDTH));
  });
  const opened = there.map(({ key, url, state }) => `  ${key}: ${url ?? ''}${ENDED[state] ?? ''}`);
  const failed = asked.length - there.length;
  return [
    `pull requests: ${there.length} there${failed === 0 ? '' : `, ${failed} not opened`}`,
    ...boundedLines(opened, SHOWN_MAX),
    ...boundedLines(lacking, SHOWN_MAX),
  ];
}

const ENDED: Readonly<Record<string, string>> = { closed: ' (closed)', merged: ' (merged)' };

export function deliveryCounts(deliveries: readonly Delivery[]) {
  const count = (...states: readonly Delivery['state'][]): number =>
    deliveries.filter(({ state }) => states.includes(state)).length;
  return { pushed: count('pushed'), nothing: count('nothing'), failed: count('failed', 'pushing') };
}

/** One for each branch that is to have one. */
export function pullRequestRecords(deliveries: readonly Delivery[]) {
  return deliveries.flatMap(({ key, pullRequest }) =>
    pullRequest === null ? [] : [{ key, state: pullRequest.state, url: pullRequest.url }],
  );
}

export function deliveryRecord(delivery: Delivery): JsonRecord {
  const { key, state, repository, branch, commit, problem, pullRequest } = delivery;
  const opened = pullRequest === null ? {} : { pull_request: pullRequest };
  return { type: 'delivery', key, state, repository, branch, commit, problem, ...opened };
}
