// Tool arguments with their `{file: path}` values replaced by the text of the file.
// It must not read a file by itself, nor look at anything outside arguments.

import { dirname, isAbsolute, join } from 'node:path';

import type { ReadFile, Report } from './build-context.ts';
import { joinTexts, quoteText } from './gap-text.ts';
import type { GapText } from './gap-text.ts';
import { argumentDepthMax, argumentFileBytesMax } from '../limits.ts';
import { readText } from './read-text.ts';
import type { ValuePath } from './yaml-source.ts';

interface Place {
  readonly path: ValuePath;
  readonly scriptPath: string;
  readonly readFile: ReadFile;
  readonly report: Report;
}

/**
 * The arguments of one call, as JSON with the gaps that its texts have; the text of a file is literal.
 * The arguments themselves are never a `{file: …}`: a tool may well have one argument of that name. A value that is
 * an object with the single key `file` and a text always is.
 */
export function resolveArguments(values: Record<string, unknown>, place: Place): GapText {
  return mapEntries(values, place, 1);
}

function mapEntries(values: object, place: Place, depth: number): GapText {
  const entries = Object.entries(values).map(([key, value]) =>
    joinTexts([[`${JSON.stringify(key)}:`], resolveValue(value, below(place, key), depth)]),
  );
  return inside('{', entries, '}');
}

function inside(open: string, items: readonly GapText[], close: string): GapText {
  const separated = items.flatMap((item, index) => (index === 0 ? [item] : [[','], item]));
  return joinTexts([[open], ...separated, [close]]);
}

function below(place: Place, segment: PropertyKey): Place {
  return { ...place, path: [...place.path, segment] };
}

function resolveValue(value: unknown, place: Place, depth: number): GapText {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    place.report(place.path, `found ${value}, expected a number that JSON can carry`);
    return ['null'];
  }
  if (typeof value === 'string') return quoteText(readText(value, place.path, place.report));
  if (typeof value !== 'object' || value === null) return [JSON.stringify(value)];
  if (depth >= argumentDepthMax) {
    place.report(place.path, `arguments are nested deeper than ${argumentDepthMax} levels`);
    return ['null'];
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => resolveValue(item, below(place, index), depth + 1));
    return inside('[', items, ']');
  }
  const file = fileOf(value);
  if (file === null) return mapEntries(value, place, depth + 1);
  return [JSON.stringify(readFileText(file, below(place, 'file')))];
}

function fileOf(value: object): string | null {
  const entries = Object.entries(value);
  const [key, path] = entries[0] ?? [];
  return entries.length === 1 && key === 'file' && typeof path === 'string' ? path : null;
}

function readFileText(file: string, place: Place): string {
  if (isAbsolute(file)) {
    place.report(place.path, `cannot read file "${file}": expected a path relative to the script`);
    return '';
  }
  try {
    const text = place.readFile(join(dirname(place.scriptPath), file));
    if (Buffer.byteLength(text) <= argumentFileBytesMax) return text;
    place.report(place.path, `cannot read file "${file}": it has more than ${argumentFileBytesMax} bytes`);
  } catch (error) {
    place.report(place.path, `cannot read file "${file}": ${reasonOf(error)}`);
  }
  return '';
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'there is no such file';
  return error instanceof Error ? error.message : String(error);
}
