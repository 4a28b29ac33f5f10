/**
 * What is allowed in a scenario and probably not meant.
 * Owns lint rules over the whole scenario; a warning never changes what is played.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { PlanItem } from '../../core/plan/plan.ts';
import { outlastsSession } from '../../core/sandbox/session.ts';
import { formatDuration } from '../duration.ts';
import { itemValues } from '../expression/values.ts';
import { didYouMean } from '../check/nearest-name.ts';
import { quote } from '../read/quote.ts';
import type { Report } from '../check/report.ts';
import { childOf, entriesOf, treeAt, type Tree } from '../read/tree.ts';
import type { Scenario, ScenarioDistribution } from './scenario.ts';
import { listAt, placeOf } from './scenario-check.ts';

interface ScenarioLint {
  readonly scenario: Scenario;
  readonly root: Tree;
  readonly report: Report;
}

export function lintScenario(lint: ScenarioLint): void {
  lintClock(lint);
  lintExpectations(lint);
  lintRules(lint);
  lintPrices(lint);
}

/** What lies beyond the end of the clock. At the end itself an expectation is still looked at, an event is of no use. */
function lintClock({ scenario, root, report }: ScenarioLint): void {
  const { untilMs } = scenario;
  const ends = `the clock stops after ${formatDuration(untilMs)}`;
  const remedy = 'make "clock.until" longer, or the time shorter';
  const add = (tree: Tree | undefined, message: string): void => {
    if (tree !== undefined) report.add('SCN501', tree.span, message, { remedy });
  };
  listAt(root, ['events']).forEach((event, index) => {
    if ((scenario.events[index]?.atMs ?? 0) >= untilMs)
      add(childOf(event, 'at'), `this never happens: ${ends}`);
  });
  listAt(root, ['expect']).forEach((expectation, index) => {
    const compiled = scenario.expectations[index];
    if (compiled?.kind === 'at' && compiled.atMs > untilMs)
      add(childOf(expectation, 'at'), `this is never looked at: ${ends}`);
    if (compiled?.kind === 'eventually' && compiled.withinMs > untilMs)
      add(childOf(expectation, 'within'), `this is not waited for so long: ${ends}`);
  });
}

function lintExpectations({ scenario, root, report }: ScenarioLint): void {
  if (scenario.expectations.length > 0) return;
  const expect = childOf(root, 'expect');
  report.add('SCN502', expect === undefined ? placeOf(root) : expect.span, 'this scenario expects nothing', {
    remedy: 'add "expect", such as "- eventually: convs.all(c, c.terminal)"',
  });
}

/** Asks each rule about each item, as the simulator will: the first that holds takes the item. */
function lintRules({ scenario, root, report }: ScenarioLint): void {
  const trees = listAt(root, ['model', 'where']);
  let rest: readonly PlanItem[] = scenario.plan.items;
  scenario.model.rules.forEach(({ when, behaviour }, index) => {
    const tree = trees[index];
    const place = childOf(tree, 'when')?.span;
    if (tree === undefined || place === undefined) return;
    const matches: PlanItem[] = [];
    for (const item of rest) {
      const holds = evaluateFor(item, when);
      if (typeof holds === 'boolean') {
        if (holds) matches.push(item);
      } else {
        report.add('SCN406', place, `this fails for ${quote(item.key)}: ${holds.reason}`, {
          remedy: "ask first whether it is there, such as 'team' in item.tags && …",
        });
        return;
      }
    }
    if (matches.length === 0) {
      const which = rest.length < scenario.plan.items.length ? 'that earlier rules leave' : 'of the plan';
      report.add('SCN503', place, `no conversation ${which} meets this condition`, {
        remedy: 'correct the condition, or remove the rule',
      });
    }
    rest = rest.filter((item) => !matches.includes(item));
    lintGuards({ scenario, report, tree, duration: behaviour.duration, items: matches });
  });
  const tree = treeAt(root, ['model', 'default']);
  if (tree !== undefined)
    lintGuards({ scenario, report, tree, duration: scenario.model.default.duration, items: rest });
}

function evaluateFor(
  item: PlanItem,
  when: Scenario['model']['rules'][number]['when'],
): boolean | { readonly reason: string } {
  try {
    return when.evaluate(itemValues(item)) === true;
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return { reason: error.message.slice(error.message.lastIndexOf('": ') + 3) };
  }
}

interface Guards {
  readonly scenario: Scenario;
  readonly report: Report;
  readonly tree: Tree;
  readonly duration: ScenarioDistribution | undefined;
  readonly items: readonly PlanItem[];
}

/** Work that should meet the end of its session, and a guard of the job that ends it before. */
function lintGuards({ scenario, report, tree, duration, items }: Guards): void {
  const place = childOf(tree, 'duration')?.span;
  if (place === undefined || duration === undefined || !outlastsSession(leastOf(duration))) return;
  const { deadlineMs } = scenario.plan.wait;
  const remedy = (key: string): string => `raise it under "overrides": "${key}"`;
  if (deadlineMs !== null && !outlastsSession(deadlineMs)) {
    const message = `the deadline of ${formatDuration(deadlineMs)} ends this before its session does`;
    report.add('SCN505', place, message, { remedy: remedy('wait.deadline') });
    return;
  }
  const limited = items.find(({ limits }) => limits.workingMs !== null && !outlastsSession(limits.workingMs));
  if (limited === undefined) return;
  const limit = formatDuration(limited.limits.workingMs ?? 0);
  const message = `the working time of ${limit} ends ${quote(limited.key)} before its session does`;
  report.add('SCN505', place, message, { remedy: remedy('conversations') });
}

/** What half of the draws reach: the whole point of a rule is what usually happens. */
function leastOf(distribution: ScenarioDistribution): number {
  switch (distribution.kind) {
    case 'fixed':
      return distribution.value;
    case 'uniform':
      return distribution.min;
    case 'lognormal':
      return distribution.p50;
    case 'exponential':
      return distribution.mean * Math.LN2;
  }
}

function lintPrices({ scenario, root, report }: ScenarioLint): void {
  const models = [...new Set(scenario.plan.items.map(({ model }) => model))];
  for (const { key, keySpan } of entriesOf(childOf(root, 'prices'))) {
    if (key === 'default' || models.includes(key)) continue;
    report.add('SCN506', keySpan, `no conversation uses the model ${quote(key)}`, {
      remedy: didYouMean(key, models, `the models are ${models.slice(0, 8).join(', ')}`),
    });
  }
}
