/**
 * Conditions of a job compile, and depend on something.
 * Owns the codes of what is wrong with an expression of a job; the engine owns the words.
 */
import type { ExpressionProblem, ExpressionProblemKind } from '../expression/expression.ts';
import type { Report } from './report.ts';
import type { RuleCode } from './rule-catalogue.ts';
import { spanInScalar } from '../read/scalar-offset.ts';
import type { Span } from '../read/text-position.ts';
import { textOf } from '../read/tree.ts';
import { conversationsOf, type CheckContext } from './check-context.ts';
import { conditionFields } from './template-fields.ts';

const CODES: Readonly<Record<ExpressionProblemKind, RuleCode>> = {
  syntax: 'JOB408',
  name: 'JOB406',
  type: 'JOB407',
  value: 'JOB409',
  size: 'JOB410',
};

/** Names that exist once a run goes on; a plan is made before. */
const LATER_NAMES: ReadonlySet<string> = new Set([
  'conv',
  'convs',
  'run',
  'attempt',
  'budget',
  'pool',
  'summary',
  'elapsed',
  'now',
]);

export function checkConditions({ root, report, scopes, inputs }: CheckContext): void {
  for (const { tree: conversation } of conversationsOf(root)) {
    const scope = scopes.get(conversation);
    if (scope === undefined || inputs.types === null) continue;
    if (scope.data !== null && scope.names.columns === null) continue;
    for (const { tree, ofRow } of conditionFields(conversation)) {
      const source = textOf(tree);
      if (source === null || tree.kind !== 'scalar' || source.trim() === '') continue;
      if (source.includes('${{')) {
        const remedy = 'a condition is an expression as it stands: leave out ${{ and }}';
        report.add('JOB404', tree.span, 'a condition is not interpolated', { remedy });
        continue;
      }
      const interpolator = ofRow ? scope.rows() : scope.texts();
      const problem = interpolator.problemOfCondition(source);
      if (problem !== null) addExpressionProblem(problem, spanInScalar(tree, problem, report.text), report);
      else if (!interpolator.varies(source))
        report.add('JOB513', tree.span, 'this depends on nothing, so it is always the same', {
          remedy: 'ask about inputs, item or matrix',
        });
    }
  }
}

export function addExpressionProblem(problem: ExpressionProblem, span: Span, report: Report): void {
  const { kind, message, remedy } = problem;
  const name = /^unknown name "(.*)"$/.exec(message)?.[1] ?? '';
  if (name === 'id')
    return report.add('JOB403', span, '"id" is only available in "key"', { remedy: 'write the id itself' });
  if (LATER_NAMES.has(name))
    return report.add('JOB403', span, `"${name}" is known only once the run goes on`, {
      remedy: 'before it there are inputs, matrix, item and repeat',
    });
  report.add(CODES[kind], span, message, { remedy });
}
