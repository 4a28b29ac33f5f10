/**
 * Money that a job counts on and nobody could count: a budget or `limits.usd` on a model without a price (D30).
 * Owns the check of a whole plan; what a model costs is the deployment's to say.
 */
import { knownItems } from '../core/plan/known-items.ts';
import type { PlanItem } from '../core/plan/plan.ts';
import { conversationsOf } from './check/check-context.ts';
import type { LintContext } from './lint-context.ts';
import { quote } from './read/quote.ts';
import { childOf, treeAt } from './read/tree.ts';

/** Each model once: a job of a thousand conversations has the same one mostly. */
export function checkPrices(context: LintContext): void {
  const { plan, root } = context;
  const said = new Set<string>();
  const isBudgeted = plan.budget !== null;
  const budget = treeAt(root, ['budget', 'usd']) ?? treeAt(root, ['budget']);
  const conversations = new Map(conversationsOf(root).map(({ id, tree }) => [id, tree]));
  for (const item of knownItems(plan)) {
    const isCounted = isBudgeted || item.limits.nanoUsd !== null;
    if (!isCounted || said.has(item.model) || context.hasPrice(item.model) !== false) continue;
    said.add(item.model);
    const own = childOf(childOf(conversations.get(item.entry), 'limits'), 'usd');
    const place = own ?? treeAt(root, ['defaults', 'limits', 'usd']) ?? budget;
    const { span } = (isBudgeted ? budget : place) ?? root;
    context.report.add('JOB333', span, message(item, isBudgeted), {
      remedy:
        'write input_cost_per_token and output_cost_per_token of the model in model_list of parley.yaml (0 for one that is free)',
    });
  }
}

function message({ model }: PlanItem, isBudgeted: boolean): string {
  const what = isBudgeted ? 'a budget' : '"limits.usd"';
  return `${what} counts on the price of the model ${quote(model)}, and nobody knows it`;
}
