/**
 * Which places of a configuration hold what must not be shown (D20).
 * Owns the names that say so; a reference to a variable reveals nothing, and is none of them.
 */
import type { Tree } from '../../../dsl/read/tree.ts';
import type { Span } from '../../../dsl/read/text-position.ts';

const SECRET_KEY = /key|token|secret|password|authorization/i;
/** Keys whose name only sounds like one of a secret. */
const NOT_SECRET = /_per_token$|_tokens?$|^max_tokens/;
const HEADERS = /extra_headers/;
const REFERENCE = 'os.environ/';
/** The same in a text that is no YAML: a name that says so, and what follows it on the line. */
const IN_LINE =
  /[\w-]*(?:key|token|secret|password|authorization)[\w-]*["']?[ \t]*[:=][ \t]*(?!["']?os\.environ\/)([^\s,{}][^,}\n]*)/gi;

/** Whether the value at a dotted path may be a secret, unless it is a reference. */
export function maySecretStandAt(path: string): boolean {
  const key = path.split('.').at(-1) ?? '';
  return HEADERS.test(path) || (SECRET_KEY.test(key) && !NOT_SECRET.test(key));
}

/** Spans of the text whose characters must not be shown. */
export function secretSpans(text: string, tree: Tree | null): readonly Span[] {
  const inLines = [...text.matchAll(IN_LINE)].map((match) => {
    const value = match[1] ?? '';
    const start = match.index + match[0].length - value.length;
    return { start, end: start + value.trimEnd().length };
  });
  return tree === null ? inLines : [...inLines, ...spansBelow(tree, '')];
}

function spansBelow(tree: Tree, path: string): readonly Span[] {
  switch (tree.kind) {
    case 'scalar':
      return maySecretStandAt(path) && !tree.source.startsWith(REFERENCE) ? [tree.span] : [];
    case 'list':
      return tree.items.flatMap((item) => spansBelow(item, path));
    case 'map':
      return tree.entries.flatMap(({ key, value }) => spansBelow(value, `${path}.${key}`));
    default:
      return tree satisfies never;
  }
}
