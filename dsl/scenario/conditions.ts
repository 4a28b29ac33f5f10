/**
 * Every expression of a scenario, compiled, with its findings at the place inside its scalar.
 * Owns which phase an expression is of; the engine owns the language.
 */
import type { Plan } from '../../core/plan/plan.ts';
import { createCelEngine } from '../expression/cel-engine.ts';
import type {
  Compiled,
  Expression,
  ExpressionPhase,
  ExpressionProblemKind,
} from '../expression/expression.ts';
import { didYouMean } from '../check/nearest-name.ts';
import { quote } from '../read/quote.ts';
import type { Report } from '../check/report.ts';
import type { RuleCode } from '../check/rule-catalogue.ts';
import { spanInScalar } from '../read/scalar-offset.ts';
import { childOf, textOf, type Tree, type TreeScalar } from '../read/tree.ts';
import { keysOf, listAt, type ScenarioCheck } from './scenario-check.ts';

const CODES: Readonly<Record<ExpressionProblemKind, RuleCode>> = {
  syntax: 'SCN401',
  name: 'SCN402',
  type: 'SCN403',
  value: 'SCN404',
  size: 'SCN405',
};

/** Keys of an expectation that hold an expression. */
const CONDITION_KEYS = ['always', 'never', 'eventually', 'end', 'that'] as const;

type Good = Extract<Compiled, { ok: true }>;

/** Compiled expressions by the scalar they stand in. */
export type Conditions = ReadonlyMap<Tree, Good>;

/** Compiles all of them, so that every broken one is said, even where other parts of the file are broken. */
export function compileConditions({ root, report }: ScenarioCheck): Conditions {
  const engine = createCelEngine();
  const found = new Map<Tree, Good>();
  const add = (tree: Tree, phase: ExpressionPhase): void => {
    if (tree.kind !== 'scalar' || textOf(tree) === null) return;
    const compiled = engine.compileCondition(String(tree.value), phase);
    if (compiled.ok) found.set(tree, compiled);
    else addProblem(tree, compiled, report);
  };
  for (const rule of listAt(root, ['model', 'where']))
    for (const { value } of keysOf(rule, ['when'])) add(value, 'item');
  for (const expectation of listAt(root, ['expect']))
    for (const { value } of keysOf(expectation, CONDITION_KEYS)) add(value, 'observation');
  for (const [tree, { use }] of found) if (!use.varies) addConstant(tree, report);
  return found;
}

function addProblem(tree: TreeScalar, { problem }: Extract<Compiled, { ok: false }>, report: Report): void {
  const { kind, message, remedy } = problem;
  if (textOf(tree)?.trim() === '') {
    report.add('JOB217', tree.span, 'this expression is empty', {
      remedy: 'write a condition, or remove the key',
    });
    return;
  }
  report.add(CODES[kind], spanInScalar(tree, problem, report.text), message, { remedy });
}

function addConstant(tree: Tree, report: Report): void {
  report.add('SCN504', tree.span, 'this depends on nothing, so it is always the same', {
    remedy: 'ask about convs, sandboxes, capacity, budget, run, summary or elapsed; in a rule about item',
  });
}

/** Keys that expressions look up and the plan does not have. */
export function checkConditionKeys(conditions: Conditions, plan: Plan, report: Report): void {
  const known = plan.items.map(({ key }) => key);
  for (const [tree, { use }] of conditions) {
    if (tree.kind !== 'scalar') continue;
    for (const named of use.keys) {
      if (known.includes(named.key)) continue;
      addUnknownKey(named.key, { known, span: spanInScalar(tree, named, report.text), report });
    }
  }
}

export function addUnknownKey(
  key: string,
  {
    known,
    span,
    report,
  }: { readonly known: readonly string[]; readonly span: Tree['span']; readonly report: Report },
): void {
  const shown = known.slice(0, 8).join(', ');
  const more = known.length > 8 ? ` and ${known.length - 8} more` : '';
  report.add('SCN301', span, `the plan has no conversation ${quote(key)}`, {
    remedy: didYouMean(key, known, `its keys are ${shown}${more}`),
  });
}

/** The expression of a key; null when it did not compile. */
export function conditionIn(tree: Tree | undefined, key: string, conditions: Conditions): Expression | null {
  const scalar = childOf(tree, key);
  return scalar === undefined ? null : (conditions.get(scalar)?.expression ?? null);
}
