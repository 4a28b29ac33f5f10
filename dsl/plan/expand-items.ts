/**
 * Conversations to items of the plan: rows of data outside, combinations within, copies innermost.
 * Owns that order and what is left out; entry-variant.ts fills the texts, item-keys.ts holds the keys.
 */
import type { PlanAwaited } from '../../core/plan/plan-awaited.ts';
import type { PlanItem, PlanWhole } from '../../core/plan/plan.ts';
import { applyDefaults } from './apply-defaults.ts';
import { buildNeeds, resolveBase, resolveItem, sorted, type FilledFields } from './resolve-item.ts';
import { defined } from '../defined.ts';
import type { Entry, ExpandContext, ItemTrace } from './entry.ts';
import { createEntryRules, type EntryRules } from './entry-rules.ts';
import { createFilling, type Filling } from './entry-variant.ts';
import { expandMatrix, ITEMS_MAX, type Combination } from './expand-matrix.ts';
import { ItemKeys } from './item-keys.ts';
import type { PlanValues } from './plan-scope.ts';
import { itemText, type ItemSpec } from './plan-text.ts';
import { quote } from '../read/quote.ts';
import { chosenRows } from '../rows/chosen-rows.ts';
import type { Row } from '../rows/row.ts';
import type { ConversationDocument } from '../schema/conversation-schema.ts';
import type { JobDocument } from '../schema/job-schema.ts';
import { keySpanIn, treeAt, type Tree } from '../read/tree.ts';

/** Items in the order of the file, then of the rows, then of the combinations. Everything wrong with one is in the report. */
export function expandItems(job: JobDocument, context: ExpandContext): PlanItem[] {
  const items: PlanItem[] = [];
  const size = { chars: 0 };
  const keys = new ItemKeys(context);
  const inputValues = Object.fromEntries(context.inputs.values);
  job.conversations.forEach((own, index) => {
    const tree = treeAt(context.root, ['conversations', index]);
    const scope = tree === undefined ? undefined : context.scopes.get(tree);
    if (tree === undefined || scope === undefined || items.length > ITEMS_MAX) return;
    if (size.chars > PLAN_CHARS_MAX) return;
    const conversation = applyDefaults(own, job.defaults ?? {});
    if (!hasModel(conversation, tree, context) || !hasKey(conversation, tree, context)) return;
    expandEntry({ conversation, tree, scope, index }, { ...context, items, keys, size, inputValues });
  });
  return items;
}

interface EntryContext extends ExpandContext {
  readonly inputValues: PlanValues['inputs'];
  readonly items: PlanItem[];
  readonly keys: ItemKeys;
  readonly size: { chars: number };
}

/**
 * A store holds a plan as one value: half of the longest text that a program can make, and, with three bytes a character,
 * three quarters of what a value of SQLite or PostgreSQL may have.
 */
export const PLAN_CHARS_MAX = 256 * 1024 * 1024;

function expandEntry(entry: Entry, context: EntryContext): void {
  const { conversation, tree, scope } = entry;
  const { report } = context;
  if (scope.data?.awaits !== undefined) return expandAwaiting(entry, scope.data.awaits, context);
  const combinations = expandMatrix(conversation, tree, report).map(sortedLast);
  const rules = createEntryRules(entry, context);
  const filling = createFilling(entry, context);
  for (const row of scope.data === null ? [null] : chosenRows(entry, context)) {
    for (const combination of combinations) {
      if (!expandOne({ entry, row, combination, rules, filling }, context)) return addTooMany(tree, context);
      if (context.size.chars > PLAN_CHARS_MAX) return addTooLarge(tree, context);
    }
  }
  rules.finish();
}

/** One item that stands for all of them until their rows are known: it waits for the stage that writes them, and for itself. */
function expandAwaiting(entry: Entry, awaits: PlanAwaited, context: EntryContext): void {
  const { items, keys, world } = context;
  const { id, needs = [] } = entry.conversation;
  const base = resolveBase({ id, prompt: entry.conversation.prompt }, {});
  const spec: ItemSpec = {
    ...resolveItem(base, { ...NOTHING_FILLED, key: id, prompt: awaitedWords(awaits) }, NOT_COMBINED),
    needs: [
      { entry: awaits.entry, outcome: 'succeeded', each: false },
      ...buildNeeds(needs),
      { entry: id, outcome: 'ended', each: false },
    ],
    awaits,
  };
  keys.add(id, { entry, row: null, written: null });
  context.onItem?.({ entryIndex: entry.index, extensions: [], row: null });
  const text = itemText(spec);
  context.size.chars += text.length;
  items.push({ ...spec, index: items.length, specHash: world.sha256(text) });
}

const NOT_COMBINED = { matrix: {}, repeat: null } as const;
const NOTHING_FILLED: FilledFields = {
  ...{ key: '', prompt: '', model: '', repositoryName: null, branch: null, ref: null },
  ...{ tags: {}, priority: 0, affinity: null, agent: null },
};

/** In place of a prompt, for people who read the plan. */
function awaitedWords({ entry, file }: PlanAwaited): string {
  return `one conversation for each row of "${file}", which ${entry} writes`;
}

/** A combination in the order of its axes, and in the order in which a plan holds it. */
interface Ordered {
  readonly matrix: Combination;
  readonly inOrder: Combination;
}

function sortedLast(matrix: Combination): Ordered {
  return { matrix, inOrder: sorted(matrix) };
}

interface One {
  readonly entry: Entry;
  readonly row: Row | null;
  readonly combination: Ordered;
  readonly rules: EntryRules;
  readonly filling: Filling;
}

/** False when the plan is full. */
function expandOne({ entry, row, combination, rules, filling }: One, context: EntryContext): boolean {
  const { items, keys, world, inputValues: inputs } = context;
  const { repeat: copies, outcome } = entry.conversation;
  let whole: PlanWhole | undefined;
  for (let repeat = 1; repeat <= (copies ?? 1); repeat += 1) {
    const values: PlanValues = {
      id: entry.conversation.id,
      repeat,
      inputs,
      matrix: combination.matrix,
      item: row?.fields ?? {},
      ...defined({ written: row?.written }),
    };
    if (rules.excludes(values, row)) return true;
    if (items.length >= ITEMS_MAX) return false;
    const extensions = rules.extensions(values, row);
    const variant = filling.of(extensions);
    const filled = variant.fill(values, row);
    keys.add(filled.key, { entry, row, written: variant.place(['key']) });
    const spec = resolveItem(variant.base, filled, {
      matrix: combination.inOrder,
      repeat: (copies ?? 1) === 1 ? null : repeat,
      ...defined({ issue: row?.issue }),
    });
    context.onItem?.({ entryIndex: entry.index, extensions, row: placeOf(row, entry) });
    // Written out, the default is what it is when it is left out.
    if (spec.repeat !== undefined && outcome !== undefined && outcome !== 'all')
      whole ??= { key: spec.key, rule: outcome };
    const text = itemText(spec);
    context.size.chars += text.length;
    if (context.size.chars > PLAN_CHARS_MAX) return true;
    const given = { index: items.length, specHash: world.sha256(text), ...defined({ whole }) };
    items.push(Object.assign(spec, given));
  }
  return true;
}

function placeOf(row: Row | null, { scope }: Entry): ItemTrace['row'] {
  return row === null ? null : { file: row.file ?? scope.data?.file ?? '', line: row.line };
}

function hasModel(conversation: ConversationDocument, tree: Tree, { report }: ExpandContext): boolean {
  if (conversation.model !== undefined) return true;
  report.add('JOB202', keySpanIn(tree, 'id'), `no model is named for ${quote(conversation.id)}`, {
    remedy: 'add "model" to the conversation or to "defaults"',
  });
  return false;
}

/** The number of a row is no name for it: it changes with every row that is put before it. */
function hasKey(
  { id, key, items }: ConversationDocument,
  tree: Tree,
  { report, scopes }: ExpandContext,
): boolean {
  if (items === undefined || key !== undefined) return true;
  const [column] = Object.keys(scopes.get(tree)?.data?.columns ?? {});
  report.add('JOB202', keySpanIn(tree, 'items'), `no key is given for the rows of ${quote(id)}`, {
    remedy: `write a "key" from columns that tell rows apart, such as \${{ item.${column ?? 'NAME'} }}`,
  });
  return false;
}

function addTooMany(tree: Tree, { report }: ExpandContext): void {
  const message = `this job expands to more than ${ITEMS_MAX} conversations`;
  report.add('JOB311', keySpanIn(tree, 'id'), message, { remedy: 'split the job' });
}

function addTooLarge(tree: Tree, { report }: ExpandContext): void {
  const message = `with this conversation the plan has more than ${PLAN_CHARS_MAX} characters`;
  report.add('JOB323', keySpanIn(tree, 'id'), message, {
    remedy: 'split the job, or let the agent read long texts from its repository',
  });
}
