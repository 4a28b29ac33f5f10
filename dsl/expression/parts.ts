/**
 * Which parts of an expression say why it came out as it did.
 * Owns the choice; must not evaluate.
 */
import { callOf, childrenOf, comprehensionOf, type SyntaxNode } from './syntax.ts';

/** A failure message with more parts than this is not read. */
const PARTS_MAX = 12;

const LOGIC: ReadonlySet<string> = new Set(['&&', '||', '!_', '?:']);

/**
 * Sources of the parts, outermost first: what `&&`, `||` and `!` join, the sides of comparisons, and of
 * `list.all(x, p)` those of the list for which `p` does not hold.
 */
export function partsOf(root: SyntaxNode, source: string): readonly string[] {
  const parts: string[] = [];
  collect(root, source, parts);
  const whole = source.slice(root.start, root.end);
  return [...new Set(parts)].filter((part) => part !== whole).slice(0, PARTS_MAX);
}

function collect(node: SyntaxNode, source: string, parts: string[]): void {
  const macro = comprehensionOf(node);
  if (macro !== null) {
    pushMembers(node, source, parts);
    return collectOperand(macro.receiver, source, parts);
  }
  const children = callOf(node)?.args ?? childrenOf(node);
  if (LOGIC.has(node.op)) {
    for (const child of children) {
      pushUnlessLiteral(child, source, parts);
      collect(child, source, parts);
    }
    return;
  }
  for (const child of children) collectOperand(child, source, parts);
}

/** A whole list says nothing; what an expression asks of it is a part of its own. */
function collectOperand(node: SyntaxNode, source: string, parts: string[]): void {
  if (node.op === 'id' && node.checkedType?.name.startsWith('list') === true) return;
  pushUnlessLiteral(node, source, parts);
  if (node.op !== '.' && node.op !== '[]') collect(node, source, parts);
}

function pushUnlessLiteral(node: SyntaxNode, source: string, parts: string[]): void {
  if (isLiteral(node)) return;
  parts.push(source.slice(node.start, node.end));
}

function isLiteral(node: SyntaxNode): boolean {
  if (node.op === 'value') return true;
  const call = callOf(node);
  const constant = call !== null && call.receiver === null && call.args.length > 0;
  if (constant || node.op === 'list') return childrenOf(node).every(isLiteral) && call?.name !== 'by_key';
  return false;
}

/** The members that decided: those that break `all`, or that `exists` found. */
function pushMembers(node: SyntaxNode, source: string, parts: string[]): void {
  const macro = comprehensionOf(node);
  const [variable, condition] = macro?.args ?? [];
  if (macro === null || variable === undefined || condition === undefined) return;
  const list = source.slice(macro.receiver.start, macro.receiver.end);
  const name = source.slice(variable.start, variable.end);
  const body = source.slice(condition.start, condition.end);
  if (macro.name === 'all') parts.push(`${list}.filter(${name}, !(${body}))`);
  else if (macro.name !== 'map') parts.push(`${list}.filter(${name}, ${body})`);
}
