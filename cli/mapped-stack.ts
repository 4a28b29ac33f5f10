/**
 * A stack as its sources call it: each place in a built file becomes the file, line and column it was built from.
 * Owns the reading of the maps beside dist/. It is done when something is reported and not by Node for every file it
 * loads, which takes a tenth of a quick command.
 */
import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** `file:///…/dist/chunk.js:12:34` in a line of a stack; lines and columns begin at 1. */
const PLACE = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/g;

/** The stack with the places that a map knows replaced by paths of sources; every other line is kept as it is. */
export function mappedStack(stack: string): string {
  const maps = new Map<string, FileMap | null>();
  return stack.replaceAll(PLACE, (place: string, url: string, line: string, column: string) => {
    const file = fileURLToPath(url);
    let map = maps.get(file);
    if (map === undefined) maps.set(file, (map = readMap(file)));
    const origin = map?.places.findEntry(Number(line) - 1, Number(column) - 1);
    if (map === null || origin === undefined || !('originalSource' in origin)) return place;
    const source = path.resolve(map.folder, origin.originalSource);
    return `${source}:${origin.originalLine + 1}:${origin.originalColumn + 1}`;
  });
}

interface FileMap {
  readonly places: SourceMap;
  /** What the map's paths are relative to. */
  readonly folder: string;
}

/** Null for a file that has no map that can be read: a report must not fail over it. */
function readMap(file: string): FileMap | null {
  try {
    const payload = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as SourceMapPayload;
    return { places: new SourceMap(payload), folder: path.resolve(path.dirname(file), payload.sourceRoot) };
  } catch {
    return null;
  }
}
