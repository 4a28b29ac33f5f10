/**
 * The scopes of the two phases of a scenario.
 * Owns which names each has; a job makes scopes of its own (../plan-scope.ts).
 */
import { functionsOf, PHASE_VARIABLES, RECORD_TYPES } from './context-types.ts';
import type { ExpressionPhase } from './expression.ts';
import type { ExpressionScope } from './expression-scope.ts';
import { recordClass } from './record.ts';

const PHASE_SCOPES: ReadonlyMap<ExpressionPhase, ExpressionScope> = new Map(
  (['item', 'observation'] as const).map((phase) => [phase, scopeOf(phase)]),
);

export function scopeOfPhase(phase: ExpressionPhase): ExpressionScope {
  return PHASE_SCOPES.get(phase) ?? scopeOf(phase);
}

function scopeOf(phase: ExpressionPhase): ExpressionScope {
  const variables = PHASE_VARIABLES[phase];
  const names = Object.keys(variables).join(', ');
  return {
    variables,
    records: RECORD_TYPES,
    functions: functionsOf(phase),
    knows: phase === 'item' ? 'a rule knows "item" alone' : `an expectation knows ${names}`,
    classOf: recordClass,
  };
}
