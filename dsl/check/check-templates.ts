/**
 * Interpolations are closed, and name what exists.
 * Owns names alone, such as `item.repo`; what is more than a name is checked by the expression engine.
 */
import { PLAIN_NAME } from '../plan/interpolate.ts';
import { didYouMean } from './nearest-name.ts';
import { quote } from '../read/quote.ts';
import type { Report } from './report.ts';
import { spanInScalar } from '../read/scalar-offset.ts';
import { parseTemplate, type Interpolated, type TemplateProblem } from '../plan/template.ts';
import type { Span } from '../read/text-position.ts';
import { textOf, treeAt, type Tree } from '../read/tree.ts';
import { allFields, conversationsOf, type CheckContext } from './check-context.ts';
import { addExpressionProblem } from './check-conditions.ts';
import { templateFields } from './template-fields.ts';
import type { EntryScope } from '../plan/entry-scope.ts';

export function checkTemplates({ root, report, scopes, inputs }: CheckContext): void {
  for (const { tree } of allFields(root)) {
    const scope = scopes.get(tree);
    if (scope === undefined) continue;
    for (const field of templateFields(tree))
      checkTemplate(field.tree, { ...field, scope, report, knowsInputs: inputs.types !== null });
  }
  checkAffinity({ root, report, scopes, inputs });
}

/** Filled for the items of every conversation, so each of them must know what it names. */
function checkAffinity({ root, report, scopes, inputs }: Omit<CheckContext, 'world'>): void {
  const affinity = treeAt(root, ['placement', 'pool', 'affinity']);
  if (affinity === undefined) return;
  for (const { tree } of conversationsOf(root)) {
    const scope = scopes.get(tree);
    if (scope === undefined) continue;
    checkTemplate(affinity, { withId: false, scope, report, knowsInputs: inputs.types !== null });
  }
}

interface FieldContext {
  readonly withId: boolean;
  readonly scope: EntryScope;
  readonly report: Report;
  /** False when the declarations of inputs are broken, so that no name of them is wrong. */
  readonly knowsInputs: boolean;
}

function checkTemplate(tree: Tree, context: FieldContext): void {
  const text = textOf(tree);
  if (text === null || tree.kind !== 'scalar' || !text.includes('${{')) return;
  const { report } = context;
  const spanOf = (range: Span): Span => spanInScalar(tree, range, report.text);
  const { parts, problems } = parseTemplate(text);
  for (const problem of problems) addProblem(problem, spanOf(problem), context);
  for (const part of parts) if (part.kind === 'expression') checkExpression(part, { ...context, spanOf });
}

interface ExpressionContext extends FieldContext {
  spanOf(range: Span): Span;
}

function checkExpression(part: Interpolated, context: ExpressionContext): void {
  const { scope, withId, report, spanOf, knowsInputs } = context;
  const plain = PLAIN_NAME.exec(part.source);
  if (plain !== null) return checkPlain(plain, spanOf(part), context);
  if (!knowsInputs && part.source.includes('inputs')) return;
  if (scope.names.columns === null && scope.data !== null) return;
  const problem = (withId ? scope.keys() : scope.texts()).problemOfText(part.source);
  if (problem === null) return;
  const at = { start: part.start + problem.start, end: part.start + problem.end };
  addExpressionProblem(problem, spanOf(at), report);
}

function checkPlain(
  [, group, name = '', single]: RegExpExecArray,
  span: Span,
  context: ExpressionContext,
): void {
  const { scope, withId, report, knowsInputs } = context;
  const { inputs, axes, columns, rowsFile } = scope.names;
  if (single === 'id' && !withId) {
    return report.add('JOB403', span, '"id" is only available in "key"', { remedy: 'write the id itself' });
  }
  if (group === 'matrix' && axes !== null && !axes.includes(name)) {
    const none = 'this conversation has no matrix';
    const remedy = remedyFor(name, axes, { none, list: 'the axes are' });
    return report.add('JOB402', span, `the matrix has no axis ${quote(name)}`, { remedy });
  }
  if (group === 'inputs' && knowsInputs && !Object.hasOwn(inputs, name)) {
    const remedy = remedyFor(name, Object.keys(inputs), {
      none: 'declare it under "inputs"',
      list: 'its inputs are',
    });
    return report.add('JOB406', span, `this job has no input ${quote(name)}`, { remedy });
  }
  if (group !== 'item' || columns === null || Object.hasOwn(columns, name)) return;
  if (rowsFile === null)
    return report.add('JOB403', span, '"item" is only available where a conversation has "items"', {
      remedy: 'add items: {csv: FILE}, or a list of rows',
    });
  const remedy = remedyFor(name, Object.keys(columns), {
    none: 'it has no columns',
    list: 'its columns are',
  });
  report.add('JOB406', span, `${rowsFile} has no column ${quote(name)}`, { remedy });
}

function remedyFor(
  name: string,
  known: readonly string[],
  words: { readonly none: string; readonly list: string },
): string {
  return didYouMean(name, known, known.length === 0 ? words.none : `${words.list} ${known.join(', ')}`);
}

function addProblem(problem: TemplateProblem, span: Span, { report, withId }: FieldContext): void {
  if (problem.kind === 'empty') {
    const remedy = `write a name such as ${withId ? '${{ id }}' : '${{ matrix.AXIS }}'}; $\${{ stands for the characters themselves`;
    return report.add('JOB403', span, 'this interpolation is empty', { remedy });
  }
  const comment =
    /^[^\n]* #/.test(report.text.slice(span.end, span.end + 200)) &&
    !report.text.slice(span.start, span.end).includes('}}');
  const remedy = comment
    ? 'YAML takes " #" as the start of a comment: put the whole text in quotes'
    : 'close it with }}, or write $${{ for the characters themselves';
  report.add('JOB401', span, 'this "${{" is never closed', { remedy });
}
