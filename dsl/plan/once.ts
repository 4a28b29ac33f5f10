/**
 * A value that is computed when it is first asked for, and then kept.
 * Owns nothing else; a computation that throws is done again.
 */
export function once<Value>(compute: () => Value): () => Value {
  let kept: { readonly value: Value } | null = null;
  return () => (kept ??= { value: compute() }).value;
}
