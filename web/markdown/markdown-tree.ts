/**
 * Untrusted Markdown, as of an agent, as a tree of plain values.
 * Owns what of it is kept: a link leads only to where a browser can safely go, a picture is never loaded, markup is text.
 */
import { Lexer, type Token, type Tokens } from 'marked';

export type MarkdownNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string; readonly language: string }
  | { readonly kind: 'codespan'; readonly text: string }
  | { readonly kind: 'break' | 'rule' }
  | { readonly kind: 'heading'; readonly depth: number; readonly of: readonly MarkdownNode[] }
  | { readonly kind: 'link'; readonly address: string; readonly of: readonly MarkdownNode[] }
  | { readonly kind: 'list'; readonly start: number | null; readonly items: readonly MarkdownItem[] }
  | { readonly kind: 'table'; readonly head: Cells; readonly rows: readonly Cells[] }
  | {
      readonly kind: 'paragraph' | 'quote' | 'strong' | 'emphasis' | 'deleted' | 'group';
      readonly of: readonly MarkdownNode[];
    };

export interface MarkdownItem {
  /** Null for one that is no task. */
  readonly isDone: boolean | null;
  readonly of: readonly MarkdownNode[];
}

type Cells = readonly (readonly MarkdownNode[])[];

/** A longer text is shown as it is: reading it would hold the page up. */
export const MARKDOWN_CHARS_MAX = 60_000;
/** Nested deeper than an author writes, it is text. */
const DEPTH_MAX = 24;
/** A reader of Markdown takes the square of these. */
const NESTED = /^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*){24}|[[*_`~!<]{200}/m;
/** Emphasis is paired in the square of its marks, block by block: a thousand in one take a tenth of a second. */
const MARKS_SQUARED_MAX = 1_000_000;
const SAFE_ADDRESS = /^(?:https?:|mailto:)/i;

/** Null where the text is not to be read as Markdown. */
export function markdownTree(text: string): readonly MarkdownNode[] | null {
  if (text.length > MARKDOWN_CHARS_MAX || NESTED.test(text) || isDense(text)) return null;
  try {
    return nodesOf(new Lexer({ gfm: true, breaks: true }).lex(text), 0);
  } catch {
    return null;
  }
}

function isDense(text: string): boolean {
  const squares = text.split(/\n[ \t]*\n/).map((block) => (block.match(/[*_~]/g)?.length ?? 0) ** 2);
  return squares.reduce((sum, square) => sum + square, 0) > MARKS_SQUARED_MAX;
}

function nodesOf(tokens: readonly Token[] | undefined, depth: number): readonly MarkdownNode[] {
  return (tokens ?? []).flatMap((token) => {
    const node = depth > DEPTH_MAX ? textNode(token.raw) : nodeOf(token, depth + 1);
    return node === null ? [] : [node];
  });
}

function nodeOf(token: Token, depth: number): MarkdownNode | null {
  const inner = (): readonly MarkdownNode[] => nodesOf('tokens' in token ? token.tokens : undefined, depth);
  switch (token.type) {
    case 'space':
    case 'def':
    case 'checkbox':
      return null;
    case 'heading':
      return { kind: 'heading', depth: (token as Tokens.Heading).depth, of: inner() };
    case 'paragraph':
      return { kind: 'paragraph', of: inner() };
    case 'blockquote':
      return { kind: 'quote', of: inner() };
    case 'strong':
      return { kind: 'strong', of: inner() };
    case 'em':
      return { kind: 'emphasis', of: inner() };
    case 'del':
      return { kind: 'deleted', of: inner() };
    case 'br':
      return { kind: 'break' };
    case 'hr':
      return { kind: 'rule' };
    case 'code':
      return { kind: 'code', text: textOf(token), language: languageOf(token as Tokens.Code) };
    case 'codespan':
      return { kind: 'codespan', text: textOf(token) };
    case 'link':
      return linkNode(token as Tokens.Link, depth);
    case 'image':
      return imageNode(token as Tokens.Image);
    case 'list':
      return listNode(token as Tokens.List, depth);
    case 'table':
      return tableNode(token as Tokens.Table, depth);
    case 'text':
      return 'tokens' in token && token.tokens !== undefined
        ? { kind: 'group', of: inner() }
        : textNode(textOf(token));
    case 'escape':
      return textNode(textOf(token));
    default:
      // Markup among it, and whatever a newer reader may know.
      return textNode(token.raw);
  }
}

function textNode(text: string): MarkdownNode {
  return { kind: 'text', text };
}

function textOf(token: Token): string {
  return 'text' in token && typeof token.text === 'string' ? token.text : token.raw;
}

function languageOf({ lang }: Tokens.Code): string {
  return /^[\w+#.-]{1,30}/.exec(lang ?? '')?.[0].toLowerCase() ?? '';
}

/** One that leads nowhere safe is what it was written as. */
function linkNode({ href, raw, tokens }: Tokens.Link, depth: number): MarkdownNode {
  const address = safeAddress(href);
  return address === null ? textNode(raw) : { kind: 'link', address, of: nodesOf(tokens, depth) };
}

/** Loading a picture would reveal to its server who reads, and when. */
function imageNode({ href, text, raw }: Tokens.Image): MarkdownNode {
  const address = safeAddress(href);
  if (address === null) return textNode(raw);
  return { kind: 'link', address, of: [textNode(`[picture: ${text === '' ? address : text}]`)] };
}

/** Null for an address that runs something, reads a file, or leads into the console itself. */
export function safeAddress(href: string): string | null {
  if (!SAFE_ADDRESS.test(href)) return null;
  const address = URL.parse(href);
  if (address === null || address.username !== '' || address.password !== '') return null;
  return ['http:', 'https:', 'mailto:'].includes(address.protocol) ? address.href : null;
}

function listNode({ ordered, start, items }: Tokens.List, depth: number): MarkdownNode {
  return {
    kind: 'list',
    start: ordered ? Number(start) || 1 : null,
    items: items.map(({ task, checked, tokens }) => ({
      isDone: task ? checked === true : null,
      of: nodesOf(tokens, depth),
    })),
  };
}

function tableNode({ header, rows }: Tokens.Table, depth: number): MarkdownNode {
  const cells = (row: readonly Tokens.TableCell[]): Cells => row.map(({ tokens }) => nodesOf(tokens, depth));
  return { kind: 'table', head: cells(header), rows: rows.map(cells) };
}
