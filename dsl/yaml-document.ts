/**
 * Text to one document of the YAML parser, within bounds that are kept before it is composed.
 * Owns the parser's settings, the depth and what its directives may say; explain-yaml-error.ts words what is wrong.
 */
import { Composer, Lexer, Parser, YAMLParseError, type CST, type Document, type YAMLError } from 'yaml';

/** A file is six levels deep; user text adds none. */
export const DEPTH_MAX = 64;
/** What the parser keeps open beside collections: the document, and the scalar at hand. */
const OPEN_BESIDE = 2;

/**
 * Equal keys are compared in build-tree.ts: the parser compares each with each, which a map of 100,000 keys cannot afford.
 * Positions are looked up by the report, for the few errors there are.
 */
const OPTIONS = {
  version: '1.2',
  schema: 'core',
  uniqueKeys: false,
  keepSourceTokens: true,
  prettyErrors: false,
  merge: false,
} as const;

type YamlDocument =
  | {
      readonly kind: 'document';
      readonly document: Document.Parsed;
      /** What the text is made of, in order: directives, comments, documents. */
      readonly tokens: readonly CST.Token[];
    }
  /** `at` is where the first value stands that is too deep. */
  | { readonly kind: 'too_deep'; readonly at: number };

/** The composer descends by recursion, so the depth is counted while tokens are put together, which takes none. */
export function readYamlDocument(text: string): YamlDocument {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    const start = parser.offset;
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > DEPTH_MAX + OPEN_BESIDE) return { kind: 'too_deep', at: start };
  }
  for (const token of parser.end()) tokens.push(token);
  return { kind: 'document', document: compose(tokens, text.length), tokens };
}

function compose(tokens: readonly CST.Token[], end: number): Document.Parsed {
  const [document, second] = new Composer(OPTIONS).compose(tokens, true, end);
  if (document === undefined) throw new Error('Cannot compose the YAML document: the parser gave none');
  const directives = directiveErrors(tokens);
  document.errors.push(...directives);
  const isWorse = ([at]: YAMLError['pos']): boolean =>
    directives.some(({ pos: [from, to] }) => from <= at && at < to);
  document.warnings = document.warnings.filter(({ pos }) => !isWorse(pos));
  if (second !== undefined) {
    const [from, to] = second.range;
    document.errors.push(new YAMLParseError([from, to], 'MULTIPLE_DOCS', 'a second document'));
  }
  return document;
}

/** The parser lets the last one of a kind win. Those of a second document do not matter: that is refused. */
function directiveErrors(tokens: readonly CST.Token[]): YAMLParseError[] {
  const errors: YAMLParseError[] = [];
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.type === 'document') break;
    if (token.type !== 'directive') continue;
    const problem = directiveProblem(token.source, seen);
    if (problem === null) continue;
    const end = token.offset + token.source.trimEnd().length;
    errors.push(new YAMLParseError([token.offset, end], 'BAD_DIRECTIVE', problem));
  }
  return errors;
}

function directiveProblem(source: string, seen: Set<string>): string | null {
  const said = /^%YAML(?=\s)|^%TAG\s+\S+/.exec(source)?.[0].replace(/\s+/, ' ');
  if (said === undefined) return null;
  if (/^%YAML\s+(?!1\.)\d+\.\d/.test(source)) return 'this version of YAML is not read';
  if (seen.has(said)) return `the directive "${said}" stands here twice`;
  seen.add(said);
  return null;
}
