/**
 * Figures that are each valid and do not fit together.
 * Owns order of bounds, weights, the clock; must not read the plan.
 */
import { DAY_MS } from '../../core/time.ts';
import { formatDuration, parseDuration } from '../duration.ts';
import { quote } from '../read/quote.ts';
import type { Report } from '../check/report.ts';
import { TOKENS } from '../schema/text-rule.ts';
import { childOf, entriesOf, textOf, treeAt, type Tree } from '../read/tree.ts';
import { tokenCount } from './figures.ts';
import { instantAt, type ScenarioCheck } from './scenario-check.ts';

/** A longer clock is a missing unit; every day is simulated in full. */
const CLOCK_MAX_MS = 366 * DAY_MS;

export function checkFigures({ root, report }: ScenarioCheck): void {
  for (const part of ['runtime', 'model', 'arrivals'].map((key) => childOf(root, key)))
    checkInside(part, report);
  checkClock(root, report);
}

/** Distributions and weights are found by their keys: nothing else there has them. */
function checkInside(tree: Tree | undefined, report: Report): void {
  if (tree === undefined) return;
  if (tree.kind === 'list') for (const item of tree.items) checkInside(item, report);
  const kind = textOf(childOf(tree, 'dist'));
  if (kind === 'uniform') checkOrder(tree, ['min', 'max'], report);
  if (kind === 'lognormal') checkOrder(tree, ['p50', 'p95'], report);
  for (const { key, value } of entriesOf(tree)) {
    if (key === 'outcome') checkWeights(value, report);
    checkInside(value, report);
  }
}

function checkOrder(tree: Tree, keys: readonly [string, string], report: Report): void {
  const [low, high] = keys.map((key) => numberIn(tree, key));
  const [lowKey, highKey] = keys;
  const place = childOf(tree, highKey)?.span;
  if (low === null || low === undefined || high === null || high === undefined || place === undefined) return;
  if (low > high) {
    report.add('SCN207', place, `${quote(highKey)} is below ${quote(lowKey)}`, { remedy: 'swap the two' });
  } else if (lowKey === 'p50' && low === 0) {
    const median = childOf(tree, 'p50')?.span ?? place;
    const message = 'a lognormal distribution has a median above 0';
    report.add('SCN207', median, message, { remedy: 'write {fixed: …} for no time or no tokens at all' });
  }
}

function numberIn(tree: Tree, key: string): number | null {
  const text = textOf(childOf(tree, key));
  if (text === null) return null;
  return parseDuration(text) ?? (TOKENS.pattern.test(text) ? tokenCount(text) : null);
}

function checkWeights(tree: Tree, report: Report): void {
  const weights = entriesOf(tree).map(({ value }) => (value.kind === 'scalar' ? value.value : null));
  if (tree.kind !== 'map' || weights.some((weight) => typeof weight !== 'number' || weight > 0)) return;
  report.add('SCN207', tree.span, 'every weight is 0, so work would have no end', {
    remedy: 'give FINISHED, ERROR or STUCK a weight above 0',
  });
}

function checkClock(root: Tree, report: Report): void {
  const until = treeAt(root, ['clock', 'until']);
  const untilMs = parseDuration(textOf(until) ?? '');
  if (until !== undefined && untilMs !== null && (untilMs === 0 || untilMs > CLOCK_MAX_MS)) {
    const message =
      untilMs === 0 ? 'the clock would not run' : `the clock runs at most ${formatDuration(CLOCK_MAX_MS)}`;
    report.add('SCN208', until.span, message, { remedy: 'write how long it runs, such as 30h or 30d' });
  }
  instantAt(treeAt(root, ['clock', 'start']), report);
}
