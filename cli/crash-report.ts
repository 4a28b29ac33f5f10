/**
 * A bug, on disk instead of on the terminal: what happened, with stack and causes, for the developer who repairs it.
 * Owns the file; values of variables that look like secrets are masked (D20), arguments are not written.
 */
import { mkdirSync, writeFileSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Shell } from '../host/shell.ts';

/** A chain of causes longer than this is a loop. */
const CAUSES_MAX = 10;
/** Shorter values are words that occur everywhere. */
const SECRET_LENGTH_MIN = 8;
const SECRET_NAME = /key|token|secret|password|credential/i;

/** Writes the report below the data directory, else below the system's temporary folder; returns its path. */
export function writeCrashReport(
  error: unknown,
  { shell, command }: { readonly shell: Shell; readonly command: string },
): string {
  const at = new Date(shell.clock.now()).toISOString();
  const name = `crash-${at.replaceAll(/[-:.]/g, '')}-${shell.randomHex(4)}.txt`;
  const text = maskSecrets(describe(error, { shell, command, at }), shell.env);
  const folders = [
    path.resolve(shell.cwd, shell.env['PARLEY_DATA_DIR'] || '.parley', 'reports'),
    path.join(os.tmpdir(), 'parley-reports'),
  ];
  for (const folder of folders) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = path.join(folder, name);
      writeFileSync(file, text, { mode: 0o600 });
      return file;
    } catch {
      // The next folder, because a report that cannot be written must not hide the crash.
    }
  }
  return 'nowhere: no folder could be written';
}

interface Crash {
  readonly shell: Shell;
  readonly command: string;
  readonly at: string;
}

function describe(error: unknown, { shell, command, at }: Crash): string {
  const lines = [
    `time: ${at}`,
    `parley: ${shell.version}`,
    `node: ${process.version} ${process.platform} ${process.arch}`,
    `command: ${command}`,
  ];
  let current = error;
  for (let count = 0; count < CAUSES_MAX && current !== undefined && current !== null; count++) {
    lines.push('', count === 0 ? 'error:' : 'caused by:', textOf(current));
    current = current instanceof Error ? current.cause : undefined;
  }
  return `${lines.join('\n')}\n`;
}

function textOf(error: unknown): string {
  return error instanceof Error
    ? mappedStack(error.stack ?? `${error.name}: ${error.message}`)
    : String(error);
}

function maskSecrets(text: string, env: Shell['env']): string {
  const values = Object.entries(env)
    .filter(([name, value]) => SECRET_NAME.test(name) && (value ?? '').length >= SECRET_LENGTH_MIN)
    .map(([, value]) => value ?? '');
  return values.reduce((masked, value) => masked.replaceAll(value, '***'), text);
}

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
