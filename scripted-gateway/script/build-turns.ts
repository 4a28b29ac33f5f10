// The turns of every conversation script: which keys go together in a turn, and what a turn answers.
// It must not choose a turn for a request; choose-turn.ts does.

import { dirname, isAbsolute, join } from 'node:path';
import { argumentDepthMax, argumentFileBytesMax } from '../limits.ts';
import type { BuildContext, Report, ReadFile } from './build-context.ts';
import { joinTexts, quoteText, type GapText, braceMark, gapMark, readGaps } from './gap-text.ts';
import type { TurnFile, TurnScriptFile } from './script-schema.ts';
import type { AnswerTurn, ErrorTurn, ScriptedCall, Turn, TurnScript } from './script.ts';
import type { ValuePath } from './yaml-source.ts';

const answerKeys = ['say', 'tool', 'arguments', 'tools', 'usage', 'piece_ms'] as const;
const errorKeys = ['message', 'retry_after'] as const;

/** What is said when the turns have run out and the script does not say otherwise. */
const finalSay = 'Done.';

/** Builds the scripts in file order; reports repeated names and scripts that nothing can reach. */
export function buildTurnScripts(context: BuildContext, report: Report): readonly TurnScript[] {
  const names = new Set<string>();
  const { scripts } = context.file;
  return scripts.map((script, index) => {
    const path = ['scripts', index];
    if (names.has(script.name)) report([...path, 'name'], `script "${script.name}" is defined twice`);
    names.add(script.name);
    if (script.when === undefined && index < scripts.length - 1) {
      report(
        path,
        `script "${script.name}" has no "when" and so must be the last: nothing after it is reached`,
      );
    }
    return buildTurnScript(script, path, { context, report });
  });
}

interface Build {
  readonly context: BuildContext;
  readonly report: Report;
}

function buildTurnScript(script: TurnScriptFile, path: ValuePath, build: Build): TurnScript {
  const final: AnswerTurn =
    script.finally === undefined
      ? { kind: 'answer', say: [finalSay], calls: [], usage: null, latencyMs: null }
      : buildAnswer(script.finally, [...path, 'finally'], build);
  return {
    name: script.name,
    contains: script.when?.contains ?? null,
    offers: script.when?.tool ?? null,
    turns: script.turns.map((turn, index) => buildTurn(turn, [...path, 'turns', index], build)),
    finalTurn: final,
  };
}

function buildTurn(turn: TurnFile, path: ValuePath, build: Build): Turn {
  if (turn.status !== undefined) return buildError(turn, turn.status, path, build);
  for (const key of errorKeys) {
    if (turn[key] !== undefined) build.report([...path, key], `"${key}" needs "status" beside it`);
  }
  return buildAnswer(turn, path, build);
}

function buildError(turn: TurnFile, status: number, path: ValuePath, build: Build): ErrorTurn {
  for (const key of answerKeys) {
    if (turn[key] !== undefined) build.report([...path, key], `"${key}" cannot stand beside "status"`);
  }
  return {
    kind: 'error',
    status,
    message: turn.message ?? `Scripted error ${status}`,
    retryAfterSeconds: turn.retry_after ?? null,
    latencyMs: turn.latency_ms ?? null,
  };
}

function buildAnswer(turn: TurnFile, path: ValuePath, build: Build): AnswerTurn {
  const { report } = build;
  if (turn.say === undefined && turn.tool === undefined && turn.tools === undefined) {
    report(path, 'empty turn: expected one of "say", "tool", "tools", "status"');
  }
  if (turn.tool !== undefined && turn.tools !== undefined) {
    report([...path, 'tools'], '"tools" cannot stand beside "tool"');
  }
  if (turn.arguments !== undefined && turn.tool === undefined) {
    report([...path, 'arguments'], '"arguments" needs "tool" beside it');
  }
  return {
    kind: 'answer',
    say: turn.say === undefined ? null : readText(turn.say, [...path, 'say'], report),
    calls: buildCalls(turn, path, build),
    usage:
      turn.usage === undefined
        ? null
        : { promptTokens: turn.usage.prompt, completionTokens: turn.usage.completion },
    latencyMs: turn.latency_ms ?? null,
    ...(turn.piece_ms === undefined ? {} : { pieceMs: turn.piece_ms }),
  };
}

function buildCalls(turn: TurnFile, path: ValuePath, build: Build): readonly ScriptedCall[] {
  const call = (tool: string, values: Record<string, unknown> | undefined, at: ValuePath): ScriptedCall => ({
    tool,
    argumentsJson: resolveArguments(values ?? {}, {
      path: [...at, 'arguments'],
      scriptPath: build.context.path,
      readFile: build.context.readFile,
      report: build.report,
    }),
  });
  if (turn.tool !== undefined) return [call(turn.tool, turn.arguments, path)];
  return (turn.tools ?? []).map((one, index) => call(one.tool, one.arguments, [...path, 'tools', index]));
}

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
function resolveArguments(values: Record<string, unknown>, place: Place): GapText {
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

/** Reads a text that stands at `path`; reports every `{{` that is neither a gap nor doubled. */
function readText(written: string, path: ValuePath, report: Report): GapText {
  const { text, unknown } = readGaps(written);
  for (const mark of unknown) {
    report(path, `unknown placeholder "${mark}": expected "${gapMark}", or "${braceMark}" for two braces`);
  }
  return text;
}
