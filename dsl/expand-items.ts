/**
 * Conversations to items of the plan.
 * Owns keys and the texts that are filled per combination; expand-matrix.ts owns the combinations.
 */
import { TAG_VALUE_CODE_POINTS_MAX } from '../core/limits.ts';
import type { PlanItem } from '../core/plan.ts';
import { applyDefaults } from './apply-defaults.ts';
import { canonicalJson } from './canonical-json.ts';
import type { PromptFiles } from './check/check-prompts.ts';
import { expandMatrix, ITEMS_MAX, type Combination } from './expand-matrix.ts';
import { quote } from './quote.ts';
import type { Report } from './report.ts';
import { resolveItem, type FilledFields } from './resolve-item.ts';
import type { ConversationDocument } from './schema/conversation-schema.ts';
import type { JobDocument } from './schema/job-schema.ts';
import { BRANCH, MODEL, REPOSITORY, type TextRule } from './schema/text-rule.ts';
import { fillTemplate } from './template.ts';
import type { Span } from './text-position.ts';
import { childOf, entryOf, treeAt, type Tree } from './tree.ts';
import type { JobWorld } from './world.ts';

/** What a key may be: artefact folder, tag and join key at once, so no segment is `.` or `..` or empty. */
const KEY_PATTERN =
  /^(?=.{1,200}$)(?:(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+)(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+)*$/;

export interface ExpandContext {
  readonly root: Tree;
  readonly report: Report;
  readonly world: JobWorld;
  readonly prompts: PromptFiles;
}

/** Items in the order of the file, then of the combinations. Everything wrong with one is in the report. */
export function expandItems(job: JobDocument, context: ExpandContext): PlanItem[] {
  const items: PlanItem[] = [];
  const keys = new Map<string, { readonly key: string; readonly span: Span }>();
  job.conversations.forEach((own, index) => {
    const tree = treeAt(context.root, ['conversations', index]);
    const conversation = applyDefaults(own, job.defaults ?? {});
    if (!hasModel(conversation, tree, context.report)) return;
    for (const combination of expandMatrix(conversation, tree, context.report)) {
      if (items.length > ITEMS_MAX) return addTooMany(tree, context.report);
      const key = keyOf(conversation, combination);
      checkKey(key, { conversation, tree, keys, context });
      items.push(buildItem({ conversation, combination, key, index: items.length, tree }, context));
    }
  });
  return items;
}

function hasModel(conversation: ConversationDocument, tree: Tree | undefined, report: Report): boolean {
  if (conversation.model !== undefined) return true;
  report.add(
    'JOB202',
    entryOf(tree, 'id')?.keySpan ?? { start: 0, end: 0 },
    `no model is named for ${quote(conversation.id)}`,
    {
      remedy: 'add "model" to the conversation or to "defaults"',
    },
  );
  return false;
}

function keyOf(conversation: ConversationDocument, matrix: Combination): string {
  const { id, key } = conversation;
  if (key !== undefined) return fillTemplate(key, { id, matrix });
  const values = Object.values(matrix).map((value) => value.replace(/[^A-Za-z0-9._-]+/g, '-'));
  return values.length === 0 ? id : `${id}/${values.join('-')}`;
}

interface KeyContext {
  readonly conversation: ConversationDocument;
  readonly tree: Tree | undefined;
  readonly keys: Map<string, { readonly key: string; readonly span: Span }>;
  readonly context: ExpandContext;
}

function checkKey(key: string, { conversation, tree, keys, context }: KeyContext): void {
  const { root, report } = context;
  const written = childOf(tree, 'key') ?? treeAt(root, ['defaults', 'key']);
  const span = (conversation.key === undefined ? undefined : written?.span) ??
    childOf(tree, 'id')?.span ?? { start: 0, end: 0 };
  if (!KEY_PATTERN.test(key)) {
    report.add('JOB405', span, `${quote(key)} is not a key`, {
      remedy: 'a key has 1 to 200 letters, digits and . _ - in parts separated by /',
    });
    return;
  }
  const same = keys.get(key.toLowerCase());
  if (same === undefined) keys.set(key.toLowerCase(), { key, span });
  else addSameKey({ key, span, same }, { conversation, report });
}

function addSameKey(
  {
    key,
    span,
    same,
  }: {
    readonly key: string;
    readonly span: Span;
    readonly same: { readonly key: string; readonly span: Span };
  },
  { conversation, report }: { readonly conversation: ConversationDocument; readonly report: Report },
): void {
  const axes = Object.keys(conversation.matrix ?? {}).map((axis) => `\${{ matrix.${axis} }}`);
  const remedy =
    axes.length > 0
      ? `write a "key" in which every axis counts, such as ${['${{ id }}', ...axes].join('/')}`
      : 'give one of them another "key"';
  const message =
    same.key === key
      ? `two conversations have the key ${quote(key)}`
      : `the keys ${quote(same.key)} and ${quote(key)} differ only in case`;
  const elsewhere = same.span.start !== span.start;
  report.add('JOB306', span, message, {
    remedy,
    ...(elsewhere ? { related: [{ span: same.span, message: 'first here' }] } : {}),
  });
}

interface ItemParts {
  readonly conversation: ConversationDocument;
  readonly combination: Combination;
  readonly key: string;
  readonly index: number;
  readonly tree: Tree | undefined;
}

function buildItem(parts: ItemParts, context: ExpandContext): PlanItem {
  const { conversation, combination, key, index } = parts;
  const filled = fillFields(parts, context);
  const spec = resolveItem({ conversation, combination, key, filled });
  return { ...spec, index, specHash: context.world.sha256(canonicalJson(spec)) };
}

/** Fills every interpolated text and holds the result to the rule of its field. */
function fillFields(
  { conversation, combination, tree }: ItemParts,
  { report, root, prompts }: ExpandContext,
): FilledFields {
  const values = { id: conversation.id, matrix: combination };
  const place = (...path: string[]): Span => {
    const found = treeAt(tree, path) ?? treeAt(root, ['defaults', ...path]);
    return found?.span ?? tree?.span ?? { start: 0, end: 0 };
  };
  const fill = (text: string, rule: TextRule, path: string[]): string => {
    const result = fillTemplate(text, values);
    if (!rule.pattern.test(result))
      report.add('JOB405', place(...path), `${quote(result)} is not ${rule.what}`, { remedy: rule.remedy });
    return result;
  };
  const { repo, prompt } = conversation;
  const branchPath =
    entryOf(tree, 'branch') || treeAt(root, ['defaults', 'branch']) ? ['branch'] : ['repo', 'branch'];
  return {
    prompt: prompt.from === 'text' ? fillTemplate(prompt.text, values) : (prompts.get(prompt.path) ?? ''),
    model: fill(conversation.model ?? '', MODEL, ['model']),
    repositoryName: repo === undefined ? null : fill(repo.name, REPOSITORY, ['repo', 'name']),
    branch: repo?.branch === undefined ? null : fill(repo.branch, BRANCH, branchPath),
    tags: fillTags(conversation.tags ?? {}, {
      fillTag: (value) => fillTemplate(value, values),
      place,
      report,
    }),
  };
}

function fillTags(
  tags: Readonly<Record<string, string>>,
  {
    fillTag,
    place,
    report,
  }: { fillTag(value: string): string; place(...path: string[]): Span; readonly report: Report },
): Record<string, string> {
  const filled = Object.entries(tags).map(([key, value]) => [key, fillTag(value)] as const);
  for (const [key, value] of filled) {
    const length = [...value].length;
    if (length <= TAG_VALUE_CODE_POINTS_MAX) continue;
    const message = `the tag ${quote(key)} has ${length} characters once it is filled; at most ${TAG_VALUE_CODE_POINTS_MAX} are allowed`;
    report.add('JOB405', place('tags', key), message);
  }
  return Object.fromEntries(filled);
}

function addTooMany(tree: Tree | undefined, report: Report): void {
  const span = entryOf(tree, 'id')?.keySpan ?? { start: 0, end: 0 };
  report.add('JOB311', span, `this job expands to more than ${ITEMS_MAX} conversations`, {
    remedy: 'split the job',
  });
}
