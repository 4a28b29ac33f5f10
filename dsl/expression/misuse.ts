/**
 * Expressions that an engine would take and that are refused all the same: without bound, or never true.
 * Owns the bounds of an expression and the words of fields; must not evaluate.
 */
import { didYouMean } from '../check/nearest-name.ts';
import { oneOf, quote } from '../read/quote.ts';
import type { ExpressionProblem } from './expression.ts';
import type { ExpressionScope } from './expression-scope.ts';
import { callOf, childrenOf, comprehensionOf, literalText, walk, type SyntaxNode } from './syntax.ts';

/** UTF-16 units. A condition that is longer is several conditions. */
export const SOURCE_MAX = 2_000;
export const NODES_MAX = 300;
export const DEPTH_MAX = 32;
/** Macros inside macros multiply: two over ten thousand conversations are a hundred million looks already. */
const NESTED_MACROS_MAX = 2;

/** A literal duration is read before anything runs. */
const DURATION_HINT = "hours, minutes and seconds are h, m and s: duration('26h30m')";

interface Misuse {
  readonly scope: ExpressionScope;
  /** Whether an expression without names has a value. */
  isEvaluable(text: string): boolean;
}

/** The first misuse that needs no types, or null: bounds, functions, literals. */
export function findMisuse(root: SyntaxNode, source: string, misuse: Misuse): ExpressionProblem | null {
  for (const { node, depth } of walk(root)) {
    const found =
      wrongFunction(node, misuse.scope) ??
      nestedMacro(node, depth) ??
      wrongMacro(node) ??
      wrongDuration(node, source, misuse);
    if (found !== null) return found;
  }
  return null;
}

/** The first misuse that is known once types are: words that a field never holds, fields of what has none. */
export function findNeverTrue(root: SyntaxNode, scope: ExpressionScope): ExpressionProblem | null {
  for (const { node } of walk(root)) {
    const found = wrongWord(node, scope) ?? fieldOfDuration(node);
    if (found !== null) return found;
  }
  return null;
}

function wrongFunction(node: SyntaxNode, { functions: known }: ExpressionScope): ExpressionProblem | null {
  const name = callOf(node)?.name;
  if (name === undefined || known.includes(name)) return null;
  const { start, end } = node;
  const message = name === 'matches' ? '"matches" is not available' : `unknown function ${quote(name)}`;
  const list = `there are ${known.join(', ')}`;
  const remedy = name === 'matches' ? MATCHES_HINT : didYouMean(name, known, list);
  return { kind: 'name', message, start, end, remedy };
}

const MATCHES_HINT = 'use contains, startsWith or endsWith: a pattern can take time without bound';

function nestedMacro(node: SyntaxNode, depth: number): ExpressionProblem | null {
  if (comprehensionOf(node) === null || depth < NESTED_MACROS_MAX) return null;
  const message = `macros are nested at most ${NESTED_MACROS_MAX} deep`;
  const { start, end } = node;
  return { kind: 'size', message, start, end, remedy: 'split it in two' };
}

function wrongMacro(node: SyntaxNode): ExpressionProblem | null {
  const macro = comprehensionOf(node);
  if (macro === null || (macro.args.length === 2 && macro.args[0]?.op === 'id')) return null;
  const { start, end } = node;
  const message = `${quote(macro.name)} takes a name and what is asked of each`;
  const remedy = `write it as ${macro.name}(c, c.terminal)`;
  return { kind: 'type', message, start, end, remedy };
}

function wrongDuration(node: SyntaxNode, source: string, { isEvaluable }: Misuse): ExpressionProblem | null {
  const call = callOf(node);
  const [argument] = call?.args ?? [];
  const written = literalText(argument);
  if (call?.name !== 'duration' || argument === undefined || written === null) return null;
  if (isEvaluable(source.slice(node.start, node.end))) return null;
  const { start, end } = argument;
  return { kind: 'value', message: `${quote(written)} is not a duration`, start, end, remedy: DURATION_HINT };
}

/** The engine takes any field of a duration and fails when it runs. */
function fieldOfDuration(node: SyntaxNode): ExpressionProblem | null {
  if (node.op !== '.') return null;
  const [receiver] = node.args as [SyntaxNode, string];
  if (receiver.checkedType?.name.endsWith('.Duration') !== true) return null;
  const { start, end } = node;
  const remedy = "compare it with duration('14h'), or take getHours() of it";
  return { kind: 'type', message: 'a duration has no fields', start, end, remedy };
}

/** `c.status == 'PUASED'` is never true: the field holds one of a few words. */
function wrongWord(node: SyntaxNode, scope: ExpressionScope): ExpressionProblem | null {
  if (node.op !== '==' && node.op !== '!=' && node.op !== 'in') return null;
  const [left, right] = childrenOf(node);
  if (left === undefined || right === undefined) return null;
  const words = wordsOf(left, scope) ?? (node.op === 'in' ? null : wordsOf(right, scope));
  if (words === null) return null;
  const literals = [left, right, ...(right.op === 'list' ? childrenOf(right) : [])];
  for (const literal of literals) {
    const word = literalText(literal);
    if (word === null || words.includes(word)) continue;
    const known = words.filter((each) => each !== '');
    const remedy = didYouMean(word, words, `it is ${oneOf(known)}`);
    const { start, end } = literal;
    return { kind: 'value', message: `this field is never ${quote(word)}`, start, end, remedy };
  }
  return null;
}

/** The words that a field access can give; null when it can give any. */
function wordsOf(node: SyntaxNode, { records }: ExpressionScope): readonly string[] | null {
  if (node.op !== '.') return null;
  const [receiver, field] = node.args as [SyntaxNode, string];
  const type = records.find(({ name }) => name === receiver.checkedType?.name);
  return type?.words?.[field] ?? null;
}
