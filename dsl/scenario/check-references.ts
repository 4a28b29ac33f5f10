/**
 * Names of a scenario that must exist elsewhere: conversations of the job, faults of the simulator.
 * Owns the look-ups; expressions are in conditions.ts.
 */
import { nearestName } from '../check/nearest-name.ts';
import { quote } from '../read/quote.ts';
import { childOf, entriesOf, entryOf, textOf, treeAt } from '../read/tree.ts';
import { addUnknownKey } from './conditions.ts';
import { listAt, targetKeys, type PlannedCheck, type ScenarioCheck } from './scenario-check.ts';

export function checkFaults({ root, report }: ScenarioCheck, faults: readonly string[]): void {
  for (const { key, keySpan } of entriesOf(childOf(root, 'faults'))) {
    if (faults.includes(key)) continue;
    const near = nearestName(key, faults);
    report.add('SCN302', keySpan, `there is no fault ${quote(key)}`, {
      remedy: near === null ? 'docs/faults.md lists them' : `did you mean ${quote(near)}?`,
    });
  }
}

/** Keys of events, against the plan. */
export function checkTargets({ root, report, plan }: PlannedCheck): void {
  const known = plan.items.map(({ key }) => key);
  for (const event of listAt(root, ['events'])) {
    for (const { value } of targetKeys(event)) {
      const key = textOf(value);
      if (key !== null && !known.includes(key)) addUnknownKey(key, { known, span: value.span, report });
    }
  }
}

/** Overrides of conversations that the job does not have, and a budget that has no amount on either side. */
export function checkOverrides({ root, report, plan }: PlannedCheck): void {
  const ids = [...new Set(plan.items.map(({ entry }) => entry))];
  for (const { key, keySpan } of entriesOf(treeAt(root, ['overrides', 'conversations']))) {
    if (ids.includes(key)) continue;
    const near = nearestName(key, ids);
    report.add('SCN301', keySpan, `the job has no conversation with the id ${quote(key)}`, {
      remedy: near === null ? `its ids are ${ids.join(', ')}` : `did you mean ${quote(near)}?`,
    });
  }
  const budget = entryOf(childOf(root, 'overrides'), 'budget');
  if (budget === undefined || plan.budget !== null || entryOf(budget.value, 'usd') !== undefined) return;
  report.add('JOB202', budget.keySpan, '"usd" is missing under "budget", and the job has no budget', {
    remedy: 'write an amount of USD, such as "usd: 2.50"',
  });
}
