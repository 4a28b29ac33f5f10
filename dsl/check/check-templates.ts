/**
 * Interpolations are closed, and name axes that exist.
 * Owns the list of fields that interpolate; template.ts owns the grammar.
 */
import { nearestName } from '../nearest-name.ts';
import { quote } from '../quote.ts';
import type { Report } from '../report.ts';
import { parseTemplate, type TemplateProblem } from '../template.ts';
import type { Span } from '../text-position.ts';
import { childOf, entriesOf, textOf, treeAt, type Tree } from '../tree.ts';
import { allFields, type CheckContext, type Fields } from './check-context.ts';

interface TemplateField {
  readonly tree: Tree;
  /** The key may hold `${{ id }}`. */
  readonly withId: boolean;
}

export function checkTemplates({ root, report }: CheckContext): void {
  for (const fields of allFields(root)) {
    for (const field of templateFields(fields.tree)) checkTemplate(field, fields, report);
  }
}

/** Every field of a conversation that interpolates. */
export function templateFields(conversation: Tree): TemplateField[] {
  const paths = [['prompt', 'text'], ['model'], ['branch'], ['repo', 'name'], ['repo', 'branch']];
  const texts = paths.map((path) => treeAt(conversation, path));
  const tags = entriesOf(childOf(conversation, 'tags')).map((entry) => entry.value);
  const fields = [...texts, ...tags].flatMap((tree) => (tree ? [{ tree, withId: false }] : []));
  const key = childOf(conversation, 'key');
  return key === undefined ? fields : [...fields, { tree: key, withId: true }];
}

function checkTemplate({ tree, withId }: TemplateField, { axes }: Fields, report: Report): void {
  const text = textOf(tree);
  if (text === null || !text.includes('${{')) return;
  const { parts, problems } = parseTemplate(text);
  for (const problem of problems)
    addProblem({ problem, withId, span: placeOf(tree, problem.occurrence, report) }, report);
  for (const part of parts) {
    if (part.kind === 'id' && !withId) {
      report.add('JOB403', placeOf(tree, part.occurrence, report), '"id" is only available in "key"', {
        remedy: 'write the id itself',
      });
    }
    if (part.kind !== 'axis' || axes === null || axes.includes(part.axis)) continue;
    addUnknownAxis({ axis: part.axis, axes, span: placeOf(tree, part.occurrence, report) }, report);
  }
}

function addProblem(
  {
    problem,
    withId,
    span,
  }: { readonly problem: TemplateProblem; readonly withId: boolean; readonly span: Span },
  report: Report,
): void {
  if (problem.kind === 'unclosed') {
    const comment =
      /^[^\n]* #/.test(report.text.slice(span.end, span.end + 200)) &&
      !report.text.slice(span.start, span.end).includes('}}');
    const remedy = comment
      ? 'YAML takes " #" as the start of a comment: put the whole text in quotes'
      : 'close it with }}, or write $${{ for the characters themselves';
    report.add('JOB401', span, 'this "${{" is never closed', { remedy });
    return;
  }
  const available = withId ? '${{ matrix.AXIS }} and ${{ id }}' : '${{ matrix.AXIS }}';
  report.add('JOB403', span, `${quote(problem.expression)} is not available here`, {
    remedy: `this text can hold ${available}; write $\${{ for the characters themselves`,
  });
}

function addUnknownAxis(
  { axis, axes, span }: { readonly axis: string; readonly axes: readonly string[]; readonly span: Span },
  report: Report,
): void {
  const near = nearestName(axis, axes);
  const known = axes.length === 0 ? 'this conversation has no matrix' : `the axes are ${axes.join(', ')}`;
  report.add('JOB402', span, `the matrix has no axis ${quote(axis)}`, {
    remedy: near !== null ? `did you mean ${quote(near)}?` : known,
  });
}

/** The n-th `${{` of the text as it stands in the file: escapes and folding never change their order. */
function placeOf(tree: Tree, occurrence: number, report: Report): Span {
  const raw = report.text.slice(tree.span.start, tree.span.end);
  let at = raw.indexOf('${{');
  for (let count = 0; count < occurrence && at !== -1; count++) at = raw.indexOf('${{', at + 3);
  if (at === -1) return tree.span;
  const close = raw.indexOf('}}', at);
  const next = raw.indexOf('${{', at + 3);
  const closed = close !== -1 && (next === -1 || close < next);
  const start = tree.span.start + at;
  return { start, end: closed ? tree.span.start + close + 2 : start + 3 };
}
