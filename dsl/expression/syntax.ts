/**
 * A parsed expression as a tree, without its engine.
 * Owns the shape and the walks over it; must not evaluate.
 */

/** Offsets are UTF-16 units of the source; `args` depends on `op`, as the walks below read it. */
export interface SyntaxNode {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly end: number;
  /** What the type check found; absent before it. */
  readonly checkedType?: { readonly name: string };
}

/** Macros that bind a name of their own: it stands for nothing outside. */
const COMPREHENSIONS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter', 'map']);

/** A call, or a method call on `receiver`. */
export interface Call {
  readonly name: string;
  readonly receiver: SyntaxNode | null;
  readonly args: readonly SyntaxNode[];
}

export function callOf(node: SyntaxNode): Call | null {
  if (node.op === 'call') {
    const [name, args] = node.args as [string, SyntaxNode[]];
    return { name, receiver: null, args };
  }
  if (node.op !== 'rcall') return null;
  const [name, receiver, args] = node.args as [string, SyntaxNode, SyntaxNode[]];
  return { name, receiver, args };
}

/** A call of a macro over a list or map. */
export function comprehensionOf(node: SyntaxNode): (Call & { readonly receiver: SyntaxNode }) | null {
  const call = callOf(node);
  if (call === null || call.receiver === null || !COMPREHENSIONS.has(call.name)) return null;
  return { ...call, receiver: call.receiver };
}

/** The text of a literal, or null for anything else. */
export function literalText(node: SyntaxNode | undefined): string | null {
  return node?.op === 'value' && typeof node.args === 'string' ? node.args : null;
}

export function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  return nodesIn(node.op === 'value' ? null : node.args);
}

function nodesIn(args: unknown): SyntaxNode[] {
  if (Array.isArray(args)) return args.flatMap(nodesIn);
  return isNode(args) ? [args] : [];
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

/** Every node, outermost first, with how many macros it lies in. */
export function* walk(node: SyntaxNode, depth = 0): Generator<{ node: SyntaxNode; depth: number }> {
  yield { node, depth };
  const macro = comprehensionOf(node);
  // What a macro runs over is asked once, however many macros follow each other.
  for (const child of childrenOf(node))
    yield* walk(child, macro === null || child === macro.receiver ? depth : depth + 1);
}
