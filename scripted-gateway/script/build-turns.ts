// The turns of every conversation script: which keys go together in a turn, and what a turn answers.
// It must not choose a turn for a request; choose-turn.ts does.

import type { BuildContext, Report } from './build-context.ts';
import { readText } from './read-text.ts';
import { resolveArguments } from './resolve-arguments.ts';
import type { TurnFile, TurnScriptFile } from './script-schema.ts';
import type { AnswerTurn, ErrorTurn, ScriptedCall, Turn, TurnScript } from './script.ts';
import type { ValuePath } from './yaml-source.ts';

const answerKeys = ['say', 'tool', 'arguments', 'tools', 'usage', 'piece_ms'] as const;
const errorKeys = ['message', 'retry_after'] as const;

/** What is said when the turns have run out and the script does not say otherwise. */
export const finalSay = 'Done.';

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
