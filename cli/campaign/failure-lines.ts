/**
 * A failing case for reading: seed, build, what broke, the shortest schedule that still breaks it, every event, and
 * the command that plays exactly it again.
 * Owns the order of the parts; the table itself is made in simulator/campaign/.
 */
import type { CaseSubset } from '../../simulator/campaign/case-subset.ts';
import { TABLE_LEGEND } from '../../simulator/campaign/event-table.ts';
import { randomCase } from '../../simulator/campaign/random-case.ts';
import { runCase, type CaseResult } from '../../simulator/campaign/run-case.ts';
import { shrinkCase } from '../../simulator/campaign/shrink.ts';
import { aimName } from '../../simulator/campaign/aims.ts';
import type { Violation } from '../../simulator/checking.ts';
import { faultKey } from '../../simulator/faults/injector.ts';
import { START_AT } from '../../simulator/script.ts';
import type { JsonRecord } from '../../host/records.ts';
import { duration } from '../../core/text/amounts.ts';

export interface Failure {
  readonly seed: number;
  readonly aim: string | null;
  readonly violation: Violation;
  readonly keep: CaseSubset;
  readonly tries: number;
  readonly result: CaseResult;
  readonly actions: readonly string[];
}

/** Lines of the table shown, the last ones: what led to the violation is at the end. */
const TABLE_LINES_MAX = 250;

/** Shrinks the case; null when it breaks nothing. */
export function shrunkFailure(seed: number): Failure | null {
  const shrunk = shrinkCase(seed, (keep) => runCase({ seed, keep }));
  if (shrunk === null) return null;
  const { keep, tries } = shrunk;
  const result = runCase({ seed, keep, table: true });
  const [violation] = result.violations;
  if (violation === undefined) return null;
  const { aim, actions } = randomCase(seed);
  const kept = keep.actions ?? [...actions.keys()];
  const shown = kept.flatMap((number) => {
    const one = actions[number];
    if (one === undefined) return [];
    const { do: done, ...rest } = one.action;
    const about = 'plan' in rest ? { items: keep.items?.[number]?.length ?? rest.plan.items.length } : rest;
    return [`${duration(one.atMs)}  ${done} ${JSON.stringify(about)}`];
  });
  return { seed, aim: aim === null ? null : aimName(aim), violation, keep, tries, result, actions: shown };
}

export function failureLines(failure: Failure, build: string): readonly string[] {
  const { seed, aim, violation, result, actions, tries } = failure;
  const rows = result.table.slice(-TABLE_LINES_MAX);
  const left = result.table.length - rows.length;
  return [
    `violation ${violation.name}: ${violation.entity}: ${violation.problem}`,
    `seed ${seed}, ${build}${aim === null ? '' : `, aimed at ${aim}`}`,
    '',
    `faults of the shortest schedule found in ${tries} tries: ${result.injected.length === 0 ? 'none' : ''}`,
    ...result.injected.map((one) => `  ${duration(one.at - START_AT)}  ${faultKey(one)}`),
    `what people did: ${actions.length === 0 ? 'nothing' : ''}`,
    ...actions.map((line) => `  ${line}`),
    '',
    ...TABLE_LEGEND,
    '',
    ...(left > 0 ? [`${left} earlier lines are left out`] : []),
    ...rows,
    '',
    `play it again: parley campaign --seed ${seed} --shrunk`,
    `all of it: parley campaign --seed ${seed}`,
  ];
}

export function failureRecord(
  { seed, aim, violation, keep, tries, result }: Failure,
  build: string,
): JsonRecord {
  return {
    type: 'campaign_failure',
    seed,
    build,
    aim,
    invariant: violation.name,
    entity: violation.entity,
    problem: violation.problem,
    at_ms: violation.at - START_AT,
    tries,
    faults: result.injected.map(faultKey),
    keep,
    table: result.table,
  };
}
