/**
 * Values that are computed when they are first asked for, and then kept.
 * Owns nothing else; a computation that throws is done again.
 */
export function once<Value>(compute: () => Value): () => Value {
  let kept: { readonly value: Value } | null = null;
  return () => (kept ??= { value: compute() }).value;
}

/** An object whose fields are such values, each by its name. */
export function onceEach<Values extends object>(compute: {
  readonly [Name in keyof Values]: () => Values[Name];
}): Values {
  const fields = Object.entries<() => unknown>(compute).map(
    ([name, one]) => [name, { get: once(one), enumerable: true }] as const,
  );
  return Object.defineProperties({}, Object.fromEntries(fields)) as Values;
}
