/**
 * The two edits of a text. Pure: text in, text out, with the lines to show afterwards.
 */
import { EditorRefusal } from './text-file.ts';

export interface TextEdit {
  readonly text: string;
  /** Lines around the change, counted from 1. */
  readonly firstLine: number;
  readonly lastLine: number;
}

/** Lines shown before and after a change. */
const CONTEXT_LINES = 4;

/**
 * Replaces the one occurrence of `old_str`. In a file with CRLF line ends, LF in the arguments means CRLF.
 *
 * @throws EditorRefusal the text does not occur, occurs more than once, or would not change
 */
export function replacedText(
  text: string,
  args: { readonly old_str?: string | null | undefined; readonly new_str?: string | null | undefined },
): TextEdit {
  if (typeof args.old_str !== 'string' || args.old_str === '')
    throw new EditorRefusal('str_replace needs old_str.');
  const toFile = lineEndsOf(text);
  const wanted = text.includes(args.old_str) ? args.old_str : toFile(args.old_str);
  const replacement = toFile(args.new_str ?? '');
  const places = occurrences(text, wanted);
  const [place] = places;
  if (place === undefined) {
    throw new EditorRefusal('old_str does not occur in the file exactly as given; nothing was replaced.');
  }
  if (places.length > 1) {
    const lines = places.map((offset) => lineAt(text, offset)).join(', ');
    throw new EditorRefusal(
      `old_str occurs ${places.length} times, on lines ${lines}; give more text around it.`,
    );
  }
  if (wanted === replacement)
    throw new EditorRefusal('new_str is the same as old_str; nothing was replaced.');
  const edited = text.slice(0, place) + replacement + text.slice(place + wanted.length);
  return editAt(edited, { line: lineAt(text, place), lineCount: replacement.split('\n').length });
}

/**
 * Puts `new_str` after line `insert_line`.
 *
 * @throws EditorRefusal an argument is missing, or the file has fewer lines
 */
export function insertedText(
  text: string,
  args: { readonly insert_line?: number | null | undefined; readonly new_str?: string | null | undefined },
): TextEdit {
  if (typeof args.insert_line !== 'number') throw new EditorRefusal('insert needs insert_line.');
  if (typeof args.new_str !== 'string') throw new EditorRefusal('insert needs new_str.');
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  if (args.insert_line > lines.length) {
    throw new EditorRefusal(
      `insert_line ${args.insert_line} does not fit: the file has ${lines.length} lines.`,
    );
  }
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const inserted = lineEndsOf(text)(args.new_str).replace(/(\r?\n)?$/, end);
  const before = lines.slice(0, args.insert_line).join('');
  const joint = before === '' || before.endsWith('\n') ? '' : end;
  const edited = before + joint + inserted + lines.slice(args.insert_line).join('');
  return editAt(edited, { line: args.insert_line + 1, lineCount: inserted.split('\n').length - 1 });
}

function lineEndsOf(text: string): (given: string) => string {
  const onlyCrlf = text.includes('\r\n') && !/(^|[^\r])\n/.test(text);
  return (given) => (onlyCrlf ? given.replace(/\r?\n/g, '\r\n') : given);
}

function occurrences(text: string, wanted: string): number[] {
  const places: number[] = [];
  // One step at a time, so that overlapping occurrences count as several.
  for (let from = text.indexOf(wanted); from >= 0; from = text.indexOf(wanted, from + 1)) places.push(from);
  return places;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function editAt(text: string, change: { readonly line: number; readonly lineCount: number }): TextEdit {
  const lineCount = text.split('\n').length;
  return {
    text,
    firstLine: Math.max(1, change.line - CONTEXT_LINES),
    lastLine: Math.min(lineCount, change.line + change.lineCount - 1 + CONTEXT_LINES),
  };
}
