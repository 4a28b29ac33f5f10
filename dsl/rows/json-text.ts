/**
 * JSON that loses nothing: a key that stands twice and a number that no number here can hold are problems,
 * and numbers that would be written otherwise keep their text.
 * Owns the reading of one text; must not know rows.
 */
import { numberLoss } from '../number-text.ts';
import { quote } from '../read/quote.ts';

/** As deep as a job may nest; what is deeper is no row. */
const JSON_DEPTH_MAX = 64;

export type JsonText =
  | {
      readonly value: unknown;
      /** Path such as `version` or `tags[0].size` → the number as it is written; null when each is spelled as here. */
      readonly written: ReadonlyMap<string, string> | null;
    }
  | { readonly problem: JsonProblem };

interface JsonProblem {
  readonly message: string;
  readonly remedy: string | null;
}

/** Null when it is no JSON. */
export function readJsonText(text: string): JsonText | null {
  const scan = scanJson(text);
  if (scan.isTooDeep)
    return { problem: { message: `this nests more than ${JSON_DEPTH_MAX} levels deep`, remedy: null } };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return scan.problem === null ? { value, written: scan.written } : { problem: scan.problem };
}

interface Scan {
  isTooDeep: boolean;
  problem: JsonProblem | null;
  written: Map<string, string> | null;
}

interface Level {
  /** Null for a list. */
  readonly keys: Set<string> | null;
  readonly path: string;
  /** The key or the place of the value at hand; null between an opening and the first key. */
  at: string | number | null;
  isAtKey: boolean;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],:]/g;

/** Right for JSON alone; of other texts it says only how deep they are. */
function scanJson(text: string): Scan {
  const scan: Scan = { isTooDeep: false, problem: null, written: null };
  const levels: Level[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const level = levels.at(-1);
    if (token === '{' || token === '[') {
      if (levels.length === JSON_DEPTH_MAX) return { ...scan, isTooDeep: true };
      const isMap = token === '{';
      levels.push({
        keys: isMap ? new Set() : null,
        path: level === undefined ? '' : pathIn(level),
        at: isMap ? null : 0,
        isAtKey: isMap,
      });
    } else if (token === '}' || token === ']') levels.pop();
    else if (level !== undefined) readToken(token, level, scan);
  }
  return scan;
}

function readToken(token: string, level: Level, scan: Scan): void {
  if (token === ',') {
    if (typeof level.at === 'number') level.at += 1;
    level.isAtKey = level.keys !== null;
  } else if (token === ':') level.isAtKey = false;
  else if (token.startsWith('"')) {
    if (level.isAtKey) readKey(token, level, scan);
  } else readNumber(token, level, scan);
}

/** Two spellings of one key, as with an escape, are one key. */
function readKey(token: string, level: Level, scan: Scan): void {
  const key = unescaped(token);
  // Copying such an object would change what it is.
  if (key === '__proto__')
    scan.problem ??= { message: `${quote(key)} is no key of data`, remedy: 'rename it' };
  if (level.keys?.has(key) === true)
    scan.problem ??= {
      message: `the key ${quote(key)} stands twice in an object`,
      remedy: 'keep one of the two',
    };
  level.keys?.add(key);
  level.at = key;
}

function unescaped(token: string): string {
  if (!token.includes('\\')) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}

function readNumber(token: string, level: Level, scan: Scan): void {
  const loss = numberLoss(token);
  if (loss === 'none') return;
  if (loss === 'text') (scan.written ??= new Map()).set(pathIn(level), token);
  else
    scan.problem ??= {
      message: `${quote(token)} is more than a number keeps: it would become ${String(Number(token))}`,
      remedy: 'put it in quotes, so that it is text',
    };
}

function pathIn({ path, at }: Level): string {
  if (typeof at === 'number') return `${path}[${at}]`;
  return path === '' ? (at ?? '') : `${path}.${at ?? ''}`;
}
