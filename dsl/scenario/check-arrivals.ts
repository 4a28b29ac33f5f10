/**
 * Arrivals that say when, once, and for as many as there are.
 * Owns which keys stand together, and that instants lie on the clock; the figures themselves are the schema's.
 */
import { counted } from '../../core/text/counted.ts';
import { instantFromText } from '../../core/text/instant-text.ts';
import { quote } from '../read/quote.ts';
import { addBeside, type Report } from '../check/report.ts';
import { childOf, entriesOf, entryOf, itemsOf, textOf, treeAt, type Tree } from '../read/tree.ts';
import { ARRIVAL_KEYS } from './arrivals-schema.ts';
import { instantAt, keysOf, placeOf, type PlannedCheck, type ScenarioCheck } from './scenario-check.ts';
import { START_AT_DEFAULT } from './start-at.ts';

export function checkArrivals({ root, report }: ScenarioCheck): void {
  const start = textOf(treeAt(root, ['clock', 'start']));
  const startAt = (start === null ? null : instantFromText(start)) ?? START_AT_DEFAULT;
  for (const { key, value } of entriesOf(childOf(root, 'arrivals'))) {
    if (value.kind !== 'map' || (key !== 'items' && key !== 'conversations')) continue;
    checkOne(value, report);
    for (const moment of itemsOf(childOf(value, 'at'))) checkMoment(moment, startAt, report);
    if (key === 'conversations') checkCount(value, report);
  }
}

/** A list of instants has one for each item: with fewer, some would never come, without a visible reason. */
export function checkItemArrivals({ root, report, plan }: PlannedCheck): void {
  const at = treeAt(root, ['arrivals', 'items', 'at']);
  if (at === undefined || at.kind !== 'list' || at.items.length === plan.items.length) return;
  const [moments, items] = [counted(at.items.length, 'time'), counted(plan.items.length, 'conversation')];
  report.add('SCN209', at.span, `these are ${moments}, and the job has ${items}`, {
    remedy: 'write one for each, or "rate" or "every"',
  });
}

function checkOne(arrivals: Tree, report: Report): void {
  const [first, second] = keysOf(arrivals, ARRIVAL_KEYS);
  if (second !== undefined && first !== undefined) {
    const message = `${quote(first.key)} and ${quote(second.key)} both say when`;
    return addBeside(report, 'SCN209', [second, first], message);
  }
  if (first !== undefined) return;
  report.add('SCN209', placeOf(arrivals), 'this does not say when they come', {
    remedy: 'write "rate: 30/h", "every: {dist: exponential, mean: 2m}" or "at: [0s, 10m]"',
  });
}

function checkMoment(moment: Tree, startAt: number, report: Report): void {
  const at = instantAt(moment, report);
  if (at === null || at >= startAt) return;
  report.add('SCN209', moment.span, 'this is before the clock starts', {
    remedy: 'write a later instant, or an earlier "clock.start"',
  });
}

function checkCount(conversations: Tree, report: Report): void {
  const count = entryOf(conversations, 'count');
  const [when] = keysOf(conversations, ARRIVAL_KEYS);
  if (when === undefined) return;
  if (when.key === 'at' && count !== undefined)
    report.add('JOB215', count.keySpan, '"count" has no use beside "at"', { remedy: 'remove the key' });
  if (when.key !== 'at' && count === undefined)
    report.add('SCN209', when.keySpan, 'this does not say how many come', { remedy: 'add "count: 20"' });
}
