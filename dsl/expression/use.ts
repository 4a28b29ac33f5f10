/**
 * What an expression looks at.
 * Owns the walk that finds it.
 */
import { BY_KEY } from './context-types.ts';
import type { ExpressionUse, NamedKey } from './expression.ts';
import type { ExpressionScope } from './expression-scope.ts';
import { callOf, literalText, walk, type SyntaxNode } from './syntax.ts';

export function useOf(root: SyntaxNode, { variables }: ExpressionScope): ExpressionUse {
  const keys: NamedKey[] = [];
  let varies = false;
  for (const { node } of walk(root)) {
    const call = callOf(node);
    if (node.op === 'id' && Object.hasOwn(variables, String(node.args))) varies = true;
    if (call?.name !== BY_KEY) continue;
    varies = true;
    const [argument] = call.args;
    const key = literalText(argument);
    if (argument !== undefined && key !== null) keys.push({ key, start: argument.start, end: argument.end });
  }
  return { varies, keys };
}
