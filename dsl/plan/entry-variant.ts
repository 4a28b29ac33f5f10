/**
 * The texts of a conversation, compiled once and filled for each of its items.
 * Owns keys that the job leaves out, and that a filled text fits its field; `extend` makes a variant of its own.
 */
import { AGENT_PRESETS, agentOf, asksBeforeActing, type PlanAgent } from '../../core/plan/plan-agent.ts';
import { TAG_VALUE_CODE_POINTS_MAX } from '../../core/limits.ts';
import { applyDefaults } from './apply-defaults.ts';
import { ownRules } from '../build-own-rules.ts';
import { defined } from '../defined.ts';
import type { Entry, ExpandContext } from './entry.ts';
import { PROMPT_VARIABLE } from '../check/check-prompts.ts';
import { FILLED_CHARS_MAX, grownTooLong, type Fill, type FillFailure } from './interpolate.ts';
import { ofRow } from './item-keys.ts';
import type { PlanValues } from './plan-scope.ts';
import { quote } from '../read/quote.ts';
import { resolveBase, type FilledFields, type ItemBase } from './resolve-item.ts';
import type { Row } from '../rows/row.ts';
import type { ConversationDocument } from '../schema/conversation-schema.ts';
import { AFFINITY, AGENT, BRANCH, MODEL, PRIORITY, REPOSITORY, type TextRule } from '../schema/text-rule.ts';
import type { Span } from '../read/text-position.ts';
import { childOf, treeAt, type Tree, type TreePath } from '../read/tree.ts';

/** In the job; every other field is in the conversation. */
const AFFINITY_PATH: TreePath = ['placement', 'pool', 'affinity'];

interface Variant {
  readonly base: ItemBase;
  fill(values: PlanValues, row: Row | null): FilledFields;
  /** Where a field is written; null when it is not. */
  place(path: TreePath): Span | null;
}

export interface Filling {
  /** The conversation with these entries of `extend` set, in order. */
  of(extensions: readonly number[]): Variant;
}

export function createFilling(entry: Entry, context: ExpandContext): Filling {
  const variants = new Map<string, Variant>();
  return {
    of(extensions) {
      const name = extensions.join(',');
      const known = variants.get(name) ?? createVariant(entry, extensions, context);
      variants.set(name, known);
      return known;
    },
  };
}

interface VariantContext extends ExpandContext {
  readonly entry: Entry;
  readonly conversation: ConversationDocument;
  place(path: TreePath): Span | null;
}

function createVariant(entry: Entry, extensions: readonly number[], context: ExpandContext): Variant {
  const conversation = extensions.reduce(
    (current, index) => withSet(current, entry.conversation.extend?.[index]?.set ?? {}),
    entry.conversation,
  );
  const sets = extensions.map((index) => treeAt(entry.tree, ['extend', index, 'set']));
  const pool = treeAt(context.root, AFFINITY_PATH);
  const trees = [...sets.reverse(), entry.tree, childOf(context.root, 'defaults')];
  const place = (path: TreePath): Span | null => {
    if (path === AFFINITY_PATH) return pool?.span ?? null;
    const found = trees.map((tree) => treeAt(tree, path)).find((tree): tree is Tree => tree !== undefined);
    return found?.span ?? null;
  };
  const fillAll = fillerOf({ ...context, entry, conversation, place });
  return { base: resolveBase(conversation, ownRules(conversation, context.job)), fill: fillAll, place };
}

/** The same merge as with `defaults`: what is set wins. */
function withSet(
  conversation: ConversationDocument,
  set: NonNullable<ConversationDocument['extend']>[number]['set'],
): ConversationDocument {
  const { id, prompt, key, items, repeat, outcome, matrix, exclude, include, extend, ...shared } =
    conversation;
  const own = defined({ key, items, repeat, outcome, matrix, exclude, include, extend });
  return applyDefaults({ id, prompt, ...own, ...set }, shared);
}

interface Filled {
  readonly fill: Fill;
  readonly path: TreePath;
}

interface RuledField extends Filled {
  readonly rule: TextRule;
}

function fillerOf(context: VariantContext): Variant['fill'] {
  const { conversation, entry } = context;
  const { model, repo, tags, priority, agent } = conversation;
  const texts = entry.scope.texts();
  const field = (text: string | undefined, rule: TextRule, path: TreePath): RuledField | null =>
    text === undefined ? null : { fill: texts.fill(text), rule, path };
  const branchPath = context.place(['branch']) === null ? ['repo', 'branch'] : ['branch'];
  const fields = {
    model: field(model, MODEL, ['model']),
    repository: field(repo?.name, REPOSITORY, ['repo', 'name']),
    branch: field(repo?.branch, BRANCH, branchPath),
    ref: field(repo?.ref, BRANCH, ['repo', 'ref']),
    priority: field(priority, PRIORITY, ['priority']),
    affinity: field(context.affinity, AFFINITY, AFFINITY_PATH),
    agent: field(agent?.use, AGENT, ['agent', 'use']),
  };
  const tagFills: readonly Filled[] = Object.entries(tags ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => ({ fill: texts.fill(value), path: ['tags', key] }));
  const key: Filled = { fill: keyFill(context), path: ['key'] };
  const prompt: Filled = { fill: promptFill(context), path: ['prompt'] };
  return (values, row) => {
    const item: ItemContext = { context, values, row };
    return {
      key: fillPlain(key, item),
      prompt: fillPlain(prompt, item),
      model: fillRuled(fields.model, item) ?? '',
      repositoryName: fillRuled(fields.repository, item),
      branch: fillRuled(fields.branch, item),
      ref: fillRuled(fields.ref, item),
      tags: fillTags(tagFills, item),
      priority: priorityOf(fillRuled(fields.priority, item)),
      affinity: fillRuled(fields.affinity, item) || null,
      agent: fillAgent(fields.agent, item),
    };
  };
}

/** Text that is no priority has its finding already, and counts as none. */
function priorityOf(text: string | null): number {
  return text !== null && PRIORITY.pattern.test(text) ? Number(text) : 0;
}

/** What the fields of one item are filled from. */
interface ItemContext {
  readonly context: VariantContext;
  readonly values: PlanValues;
  readonly row: Row | null;
}

function fillRuled(field: RuledField | null, item: ItemContext): string | null {
  if (field === null) return null;
  const filled = fillPlain(field, item);
  if (field.rule.pattern.test(filled)) return filled;
  const { what, remedy } = field.rule;
  addAt(field, item, (row) => `${quote(filled)} is not ${what}${row}`, remedy);
  return filled;
}

/** A text that does not fit once it is filled; `message` is given which row it is of. */
function addAt(
  { path }: Filled,
  { context, row }: ItemContext,
  message: (row: string) => string,
  remedy: string | null = null,
): void {
  const { report, entry, place } = context;
  report.add('JOB405', place(path) ?? entry.tree.span, message(ofRow(row, entry)), { remedy });
}

/** A name that is no preset needs a command beside it. */
function fillAgent(field: RuledField | null, item: ItemContext): PlanAgent | null {
  const name = fillRuled(field, item);
  if (field === null || name === null || !field.rule.pattern.test(name)) return null;
  const { confirmation = 'never', agent: written = {} } = item.context.conversation;
  const agent = agentOf(name, written);
  if (agent === null) {
    const message = `${quote(name)} is no preset of an agent, and has no command`;
    const remedy = `add "command" beside "use", or write ${AGENT_PRESETS.join(', ')}`;
    addAt(field, item, (row) => `${message}${row}`, remedy);
  } else if (confirmation !== 'never' && !asksBeforeActing(agent)) {
    const message = `${quote(name)} acts without asking, and "confirmation" is "${confirmation}"`;
    const remedy = 'write "confirmation: never", give it a "mode" in which it asks, or name another agent';
    addAt(field, item, (row) => `${message}${row}`, remedy);
  }
  return agent;
}

function fillPlain({ fill, path }: Filled, { context, values, row }: ItemContext): string {
  const filled = fill(values);
  if (typeof filled === 'string') return filled;
  const { report, entry, place } = context;
  const span = place(path) ?? entry.tree.span;
  report.add('JOB411', span, `an expression here fails${ofRow(row, entry)}: ${filled.reason}`);
  return '';
}

const NO_TAGS: Readonly<Record<string, string>> = {};

/** `fills` are in the order in which a plan holds the keys. */
function fillTags(fills: readonly Filled[], item: ItemContext): Readonly<Record<string, string>> {
  if (fills.length === 0) return NO_TAGS;
  const tags: Record<string, string> = {};
  for (const one of fills) {
    const key = String(one.path[1]);
    const value = fillPlain(one, item);
    tags[key] = value;
    // A text has at most as many characters as units, and most are far below the bound.
    const length = value.length > TAG_VALUE_CODE_POINTS_MAX ? [...value].length : 0;
    if (length > TAG_VALUE_CODE_POINTS_MAX) addLongTag(one, length, item);
  }
  return tags;
}

function addLongTag(tag: Filled, length: number, item: ItemContext): void {
  const long = `the tag ${quote(String(tag.path[1]))} has ${length} characters once it is filled`;
  addAt(tag, item, (row) => `${long}${row}; at most ${TAG_VALUE_CODE_POINTS_MAX} are allowed`);
}

/** Without a template: the id, the values of the axes, the number of the copy where there are several. */
function keyFill({ conversation, entry }: VariantContext): Fill {
  const { id, key, repeat } = conversation;
  if (key !== undefined) return entry.scope.keys().fill(key);
  return (values) => {
    const axes = Object.values(values.matrix).map((value) => value.replace(/[^A-Za-z0-9._-]+/g, '-'));
    const copy = (repeat ?? 1) === 1 ? [] : [String(values.repeat)];
    return [id, ...(axes.length === 0 ? [] : [axes.join('-')]), ...copy].join('/');
  };
}

/** A file is literal but for its variables, which are filled as texts of the job. */
function promptFill({ conversation, entry, prompts }: VariantContext): Fill {
  const { prompt } = conversation;
  if (prompt.from === 'text') return entry.scope.texts().fill(prompt.text);
  const text = prompts.get(prompt.path) ?? '';
  if (prompt.vars === undefined) return () => text;
  const fills = new Map(
    Object.entries(prompt.vars).map(([name, value]) => [name, entry.scope.texts().fill(value)]),
  );
  return (values) => {
    let failure: FillFailure | null = null;
    let { length } = text;
    const filled = text.replace(PROMPT_VARIABLE, (written, name: string) => {
      const value = length > FILLED_CHARS_MAX ? grownTooLong() : (fills.get(name)?.(values) ?? written);
      length += typeof value === 'string' ? value.length : 0;
      if (typeof value === 'string' && length <= FILLED_CHARS_MAX) return value;
      failure = typeof value === 'string' ? grownTooLong() : value;
      return '';
    });
    return failure ?? filled;
  };
}
