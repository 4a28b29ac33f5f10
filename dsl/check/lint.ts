/**
 * What is allowed and probably not meant: warnings on a job that compiles.
 * Owns lint rules over the whole plan; a warning never changes the plan.
 */
import { waitOf } from '../../core/plan/item-rules.ts';
import { knownItems } from '../../core/plan/known-items.ts';
import type { Plan, PlanItem, PlanWait } from '../../core/plan/plan.ts';
import { outlastsSession } from '../../core/sandbox/session.ts';
import { counted } from '../../core/text/counted.ts';
import { formatDuration } from '../duration.ts';
import { didYouMean } from './nearest-name.ts';
import { quote } from '../read/quote.ts';
import type { Report } from './report.ts';
import { expressionsIn } from '../plan/template.ts';
import type { Span } from '../read/text-position.ts';
import {
  childOf,
  entriesOf,
  entryOf,
  itemsOf,
  textOf,
  treeAt,
  type Tree,
  type TreePath,
} from '../read/tree.ts';
import { conversationsOf } from './check-context.ts';
import { repeated } from './check-needs.ts';
import { templateFields } from './template-fields.ts';

/** What the checks of a whole plan read: the plan, where its parts stand in the file, and what the deployment has. */
interface LintContext {
  readonly plan: Plan;
  readonly root: Tree;
  readonly report: Report;
  readonly models: readonly string[] | null;
  readonly hasPrice: (model: string) => boolean | null;
}

export function lint(context: LintContext): void {
  for (const { path, wait } of waitsOf(context)) lintWait(context, path, wait);
  lintLimits(context);
  lintBudget(context);
  lintRetry(context);
  lintPlacement(context);
  lintPool(context);
  lintAxes(context);
  lintPrompts(context);
  if (context.models !== null) lintModels(context, context.models);
  checkPrices(context);
}

function spanAt({ root }: LintContext, path: TreePath): Span | null {
  return treeAt(root, path)?.span ?? null;
}

/** Where `wait` may stand, and what it comes to there. */
function waitsOf({ plan, root }: LintContext): { readonly path: TreePath; readonly wait: PlanWait }[] {
  const entries = itemsOf(childOf(root, 'conversations')).map((tree) => textOf(childOf(tree, 'id')));
  const ofEntry = (index: number): PlanWait =>
    waitOf(
      plan.items.find(({ entry }) => entry === entries[index]),
      plan,
    );
  const heir = entries.findIndex((_, index) => treeAt(root, ['conversations', index, 'wait']) === undefined);
  return [
    { path: [], wait: plan.wait },
    ...(heir === -1 ? [] : [{ path: ['defaults'], wait: ofEntry(heir) }]),
    ...entries.map((_, index) => ({ path: ['conversations', index], wait: ofEntry(index) })),
  ];
}

function lintWait(context: LintContext, at: TreePath, wait: PlanWait): void {
  const { report } = context;
  const { deadlineMs, noProgressMs, until } = wait;
  const deadline = spanAt(context, [...at, 'wait', 'deadline']);
  if (deadline !== null && (deadlineMs === null || outlastsSession(deadlineMs))) {
    const message =
      deadlineMs === null
        ? 'without a deadline a conversation can meet the end of its session, after 12h (D10)'
        : `a deadline of ${formatDuration(deadlineMs)} is not below the session length of 12h (D10)`;
    report.add('JOB501', deadline, message, {
      remedy: 'write less than 12h, such as 11h30m, to leave time for collecting',
    });
  }
  const noProgress = spanAt(context, [...at, 'wait', 'no_progress']);
  if (noProgress !== null && noProgressMs !== null && deadlineMs !== null && noProgressMs >= deadlineMs) {
    report.add(
      'JOB507',
      noProgress,
      `"no_progress" is never reached: the deadline is ${formatDuration(deadlineMs)}`,
    );
  }
  const ends = (['FINISHED', 'ERROR', 'STUCK'] as const).filter((status) => !until.includes(status));
  const untilSpan = spanAt(context, [...at, 'wait', 'until']);
  if (ends.length === 0 || untilSpan === null) return;
  report.add('JOB511', untilSpan, `a conversation that ends as ${ends.join(' or ')} waits for its deadline`, {
    remedy: `add ${ends.join(', ')}`,
  });
}

function lintLimits(context: LintContext): void {
  const { plan, root, report } = context;
  const owners = ['defaults', ...itemsOf(childOf(root, 'conversations')).map((_, index) => index)];
  for (const owner of owners) {
    const path = typeof owner === 'number' ? ['conversations', owner] : [owner];
    const working = spanAt(context, [...path, 'limits', 'working']);
    if (working === null) continue;
    const entry = typeof owner === 'number' ? textOf(treeAt(root, [...path, 'id'])) : null;
    const item = plan.items.find((candidate) => entry === null || candidate.entry === entry);
    const { deadlineMs } = waitOf(item, plan);
    if (deadlineMs === null || (item?.limits.workingMs ?? 0) < deadlineMs) continue;
    report.add(
      'JOB507',
      working,
      `"working" is never reached: the deadline is ${formatDuration(deadlineMs)}`,
    );
  }
}

function lintBudget(context: LintContext): void {
  const { plan, report } = context;
  const { budget } = plan;
  const usd = spanAt(context, ['budget', 'usd']);
  if (budget === null || usd === null) return;
  if (budget.reserveNanoUsd > budget.nanoUsd) {
    const span = spanAt(context, ['budget', 'reserve']) ?? usd;
    report.add('JOB507', span, 'one conversation holds back more than the whole budget', {
      remedy: 'lower "reserve" or "limits.usd", or raise "usd"',
    });
  } else if (budget.mode === 'enforce' && budget.reserveNanoUsd === 0) {
    report.add('JOB508', usd, 'the budget is enforced, but conversations hold nothing back', {
      remedy: 'add "reserve", or "limits.usd" under "defaults"',
    });
  }
}

function lintRetry({ root, report }: LintContext): void {
  const owners = [root, childOf(root, 'defaults'), ...itemsOf(childOf(root, 'conversations'))];
  for (const owner of owners) {
    const words = itemsOf(childOf(owner, 'retry')).flatMap((rule) => itemsOf(childOf(rule, 'on')));
    for (const { text, span, related } of repeated(words))
      report.add('JOB509', span, `${quote(text)} has a rule already, and the first one wins`, { related });
  }
}

function lintPlacement(context: LintContext): void {
  const strategy = entryOf(childOf(context.root, 'placement'), 'strategy');
  if (strategy === undefined || context.plan.placement.sandboxId === null) return;
  context.report.add('JOB510', strategy.keySpan, '"strategy" has no effect beside "sandbox"', {
    remedy: 'keep one of the two',
  });
}

/** An axis that appears in no text of its conversation makes copies that differ in nothing but the key. */
function lintAxes({ root, report }: LintContext): void {
  const inherited = sourcesIn(childOf(root, 'defaults'));
  for (const { tree } of conversationsOf(root)) {
    const used = [...inherited, ...sourcesIn(tree)];
    const decorated = itemsOf(childOf(tree, 'extend')).flatMap((entry) => entriesOf(childOf(entry, 'match')));
    for (const axis of entriesOf(childOf(tree, 'matrix'))) {
      if (used.some((source) => names(source, `matrix.${axis.key}`))) continue;
      if (decorated.some(({ key }) => key === axis.key)) continue;
      report.add(
        'JOB506',
        axis.keySpan,
        `the axis ${quote(axis.key)} is used nowhere, so its conversations are copies`,
        { remedy: `write \${{ matrix.${axis.key} }} in the prompt, model, repo, branch or a tag` },
      );
    }
  }
}

/** Two entries that ask for the same thing cost twice; copies on purpose are "repeat". */
function lintPrompts({ plan, root, report }: LintContext): void {
  const ids = new Map(conversationsOf(root).map(({ id, tree }) => [id, childOf(tree, 'id')]));
  if (ids.size < 2) return;
  const seen = new Map<string, string>();
  for (const { entry, prompt, model, repository, secrets } of knownItems(plan)) {
    const task = JSON.stringify([prompt, model, repository, secrets]);
    const first = seen.get(task);
    if (first === undefined) seen.set(task, entry);
    const [here, there] = [ids.get(entry), ids.get(first ?? entry)];
    if (first === undefined || first === entry || here === undefined || there === undefined) continue;
    report.add('JOB514', here.span, `${quote(entry)} asks for the same as ${quote(first)}`, {
      remedy: 'remove one, or write "repeat" for copies on purpose',
      related: [{ span: there.span, message: 'first here' }],
    });
  }
}

/** Expressions of every field that changes what a conversation does, which a key does not. */
function sourcesIn(tree: Tree | undefined): string[] {
  if (tree === undefined) return [];
  const texts = templateFields(tree).filter((field) => !field.withId);
  const extending = itemsOf(childOf(tree, 'extend')).flatMap((entry) => textOf(childOf(entry, 'when')) ?? []);
  return [
    ...texts.flatMap((field) => expressionsIn(textOf(field.tree) ?? '').map(({ source }) => source)),
    ...extending,
  ];
}

function names(source: string, name: string): boolean {
  return new RegExp(`(?<![\\w.])${name.replace('.', '\\s*\\.\\s*')}(?!\\w)`).test(source);
}

function lintModels({ plan, root, report }: LintContext, models: readonly string[]): void {
  const trees = new Map(conversationsOf(root).map(({ id, tree }) => [id, tree]));
  for (const item of knownItems(plan)) {
    if (models.includes(item.model) || models.includes('*')) continue;
    const own = trees.get(item.entry);
    const written = childOf(own, 'model') ?? treeAt(root, ['defaults', 'model']);
    if (written === undefined) continue;
    report.add('JOB503', written.span, `the proxy lists no model ${quote(item.model)}`, {
      remedy: didYouMean(item.model, models, `it lists ${models.slice(0, 10).join(', ')}`),
    });
  }
}

/** What is allowed in a pool and probably not meant. */
function lintPool({ plan, root, report }: LintContext): void {
  const { pool } = plan.placement;
  if (pool === undefined) return;
  const { size, maxPerSandbox, recycleAgeMs, onFull } = pool;
  const maxAge = treeAt(root, ['placement', 'pool', 'recycle', 'max_age']);
  if (maxAge !== undefined && recycleAgeMs !== null && outlastsSession(recycleAgeMs)) {
    const message = `an age of ${formatDuration(recycleAgeMs)} is not below the session length of 12h (D10), which ends first`;
    report.add('JOB517', maxAge.span, message, { remedy: 'write less than 12h, such as 10h' });
  }
  const places = size * maxPerSandbox;
  const { concurrency } = plan.admission;
  const written = treeAt(root, ['admission', 'concurrency']);
  if (written === undefined || onFull === 'spill' || Math.min(concurrency, plan.items.length) <= places)
    return;
  const becomes = onFull === 'fail' ? 'the others fail' : 'it is never reached';
  report.add(
    'JOB516',
    written.span,
    `${concurrency} at once, but the pool has ${counted(places, 'place')}: ${becomes}`,
    { remedy: `write ${places}, or give the pool more sandboxes` },
  );
}

/** Each model once: a job of a thousand conversations has the same one mostly. */
function checkPrices(context: LintContext): void {
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
