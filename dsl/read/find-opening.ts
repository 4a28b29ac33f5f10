/**
 * Where an unclosed quote or bracket was opened.
 * Owns a small scan of the text before a parser error; must not judge anything else.
 */
import type { YAMLError } from 'yaml';

import type { Report } from '../check/report.ts';
import type { Span } from './text-position.ts';

export interface Opening {
  readonly span: Span;
  readonly message: string;
  readonly remedy: string;
}

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}', '"': '"', "'": "'" };
const WORD: Readonly<Record<string, string>> = {
  '[': 'bracket',
  '{': 'brace',
  '"': 'double quote',
  "'": 'single quote',
};

/** Null when the error has another cause. */
export function findOpening(report: Report, error: YAMLError): Opening | null {
  const open = scan(report.text.slice(0, error.pos[0]));
  const { line } = report.lines.position(error.pos[0]);
  const [character, at] = runawayQuote(open, report, line) ?? open.stack.at(-1) ?? [null, 0];
  if (character === null) return null;
  if (open.stack.length === 0 && report.lines.position(at).line === line) return null;
  const closing = CLOSING[character] ?? '';
  const message = `the ${WORD[character]} opened here is never closed`;
  return { span: { start: at, end: at + 1 }, message, remedy: `add the closing ${closing}` };
}

interface Scan {
  readonly stack: readonly (readonly [string, number])[];
  /** The last quoted text that runs over a line that looks like a key. */
  readonly runaway: { readonly character: string; readonly start: number; readonly end: number } | null;
}

/** A quote that was meant to close on its own line runs on to the next quote of the file, and the error comes after that. */
function runawayQuote(open: Scan, report: Report, line: number): readonly [string, number] | null {
  const { runaway } = open;
  if (runaway === null) return null;
  const near = line - report.lines.position(runaway.end).line <= 1;
  return near ? [runaway.character, runaway.start] : null;
}

/** Follows quotes and flow brackets as YAML does: a quote opens only where a value may start. */
function scan(text: string): Scan {
  const stack: (readonly [string, number])[] = [];
  let runaway: Scan['runaway'] = null;
  let atValue = true;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character === '#' && /\s|^$/.test(text[at - 1] ?? '')) {
      at = endOfLine(text, at) - 1;
      continue;
    }
    const block = blockEnd(text, at);
    if (block !== null && stack.length === 0) {
      at = block;
      atValue = true;
      continue;
    }
    if (atValue && (character === '"' || character === "'")) {
      const end = quoteEnd(text, at);
      if (end === null) return { stack: [...stack, [character, at]], runaway };
      if (/\n\s*(?:- +)?[\w-]+:\s/.test(text.slice(at, end))) runaway = { character, start: at, end };
      at = end;
      atValue = false;
      continue;
    }
    if ((character === '[' || character === '{') && (atValue || stack.length > 0))
      stack.push([character, at]);
    else if ((character === ']' || character === '}') && stack.length > 0) stack.pop();
    atValue = startsValue(character, text[at + 1]) || (atValue && /\s/.test(character));
  }
  return { stack, runaway };
}

function startsValue(character: string, next: string | undefined): boolean {
  if (/[\n[{,]/.test(character)) return true;
  return (character === ':' || character === '-' || character === '?') && /\s/.test(next ?? ' ');
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** The end of a block text whose header stands at `at`, or null. */
function blockEnd(text: string, at: number): number | null {
  const character = text[at];
  if ((character !== '|' && character !== '>') || !/[\s:-]/.test(text[at - 1] ?? '')) return null;
  if (!/^[|>][+-]?\d?[+-]?[ \t]*(?:#[^\n]*)?(?:\n|$)/.test(text.slice(at, at + 200))) return null;
  const lineStart = text.lastIndexOf('\n', at) + 1;
  const indent = /^ */.exec(text.slice(lineStart, at))?.[0].length ?? 0;
  let end = endOfLine(text, at);
  while (end < text.length) {
    const next = endOfLine(text, end + 1);
    const line = text.slice(end + 1, next);
    if (line.trim() !== '' && (/^ */.exec(line)?.[0].length ?? 0) <= indent) break;
    end = next;
  }
  return end - 1;
}

function quoteEnd(text: string, at: number): number | null {
  const closing = text[at] ?? '';
  for (let end = at + 1; end < text.length; end++) {
    if (closing === '"' && text[end] === '\\') end += 1;
    else if (text[end] === closing && closing === "'" && text[end + 1] === "'") end += 1;
    else if (text[end] === closing) return end;
  }
  return null;
}
