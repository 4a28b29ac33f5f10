/**
 * Which methods an address has, for the answer to one that it has not.
 * Owns the comparison of a path with the templates of routes: a path that a template spells out is that one alone,
 * also where a parameter of another template would take it.
 */

interface Addressed {
  readonly method: string;
  readonly url: string;
}

/** The methods of a path, in the order of the routes; none when nothing is there. */
export function knownMethods(routes: readonly Addressed[]): (path: string) => readonly string[] {
  const methods = methodsByUrl(routes);
  const templates = [...methods]
    .filter(([url]) => url.includes('/:'))
    .map(([url, names]) => ({ names, pattern: patternOf(url) }));
  return (path) =>
    methods.get(path) ?? [
      ...new Set(templates.flatMap(({ names, pattern }) => (pattern.test(path) ? names : []))),
    ];
}

/** The methods of a path that a route spells out; undefined where none does. */
export function spelledMethods(
  routes: readonly Addressed[],
): (path: string) => readonly string[] | undefined {
  const methods = methodsByUrl(routes);
  return (path) => methods.get(path);
}

function methodsByUrl(routes: readonly Addressed[]): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, readonly string[]>();
  for (const { method, url } of routes) methods.set(url, [...(methods.get(url) ?? []), method]);
  return methods;
}

function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:[a-z_]+/g, '[^/]+')}$`);
}
