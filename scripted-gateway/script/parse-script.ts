// Script text to a checked script, or to the full list of what is wrong with it. Pure: files come through a parameter.
// It must not stop at the first problem of a stage, nor throw for anything the author wrote.

import { nanoPerUsd, parseUsd } from '../decimal-usd.ts';
import type { ReadFile, BuildContext, Report } from './build-context.ts';
import { buildTurnScripts } from './build-turns.ts';
import { scriptBytesMax, priceUsdPerMillionMax } from '../limits.ts';
import { sortProblems, type Problem, quoteAll } from './problem.ts';
import { scriptFileSchema, type ScriptFile } from './script-schema.ts';
import type { GatewayScript, ModelPrice, ScriptKey } from './script.ts';
import { defaultPattern, readPattern, type WorkingDirRule } from './working-dir.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

/** Either a script and no problems, or null and at least one. */
interface ParsedScript {
  readonly script: GatewayScript | null;
  readonly problems: readonly Problem[];
}

/** The parts of a schema issue this module reads. */
interface Issue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

/** Parses and checks a script; `path` names it in problems and is the base of `{file: …}` arguments. */
export function parseScript(text: string, path: string, readFile: ReadFile): ParsedScript {
  if (Buffer.byteLength(text) > scriptBytesMax) {
    const message = `a script has at most ${scriptBytesMax} bytes`;
    return { script: null, problems: [{ file: path, line: 1, col: 1, message }] };
  }
  const yaml = readYaml(text, path);
  if (yaml.source === null) return { script: null, problems: sortProblems(yaml.problems) };
  const { source } = yaml;
  const parsed = scriptFileSchema.safeParse(source.values);
  if (!parsed.success) {
    const problems = parsed.error.issues.flatMap((issue) => problemsOfIssue(issue as Issue, source, path));
    return { script: null, problems: sortProblems(problems) };
  }
  const built = buildScript({ file: parsed.data, path, source, readFile });
  if (built.problems.length > 0) return { script: null, problems: sortProblems(built.problems) };
  return { script: built.script, problems: [] };
}

function problemsOfIssue(issue: Issue, source: YamlSource, file: string): readonly Problem[] {
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map((key) => ({
      file,
      ...source.keyAt([...issue.path, key]),
      message: `unknown key "${key}": ${issue.message}`,
    }));
  }
  const last = issue.path.at(-1);
  if (last !== undefined && !source.has(issue.path)) {
    return [{ file, ...source.valueAt(issue.path), message: `missing key "${String(last)}"` }];
  }
  const name = last === undefined ? 'script' : pathText(issue.path);
  const message = `${name}: ${issue.message.replace(/^Invalid (input|option): /, '').replace(', received ', ', found ')}`;
  return [{ file, ...source.valueAt(issue.path), message }];
}

function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}

/** Builds everything it can and reports everything it cannot. */
function buildScript(context: BuildContext): {
  readonly script: GatewayScript;
  readonly problems: readonly Problem[];
} {
  const problems: Problem[] = [];
  const report: Report = (path, message) => {
    problems.push({ file: context.path, ...context.source.valueAt(path), message });
  };
  const { file } = context;
  const models = buildModels(file, report);
  const script: GatewayScript = {
    path: context.path,
    keys: buildKeys(context, report),
    models,
    latencyMs: file.latency_ms ?? 0,
    workingDir: buildWorkingDir(file, report),
    scripts: buildTurnScripts(context, report),
  };
  return { script, problems };
}

function buildModels(file: ScriptFile, report: Report): ReadonlyMap<string, ModelPrice> {
  const names = Object.keys(file.models);
  if (names.length === 0) report(['models'], 'models: expected at least one model');
  const readPrice = (name: string, side: 'input' | 'output'): bigint => {
    const written = String(file.models[name]?.[side]);
    const nanoUsd = parseUsd(written);
    if (nanoUsd !== null && nanoUsd <= priceUsdPerMillionMax * nanoPerUsd) return nanoUsd;
    report(
      ['models', name, side],
      `${side}: found "${written}", expected USD per million tokens as a plain decimal up to ${priceUsdPerMillionMax} with at most 9 digits after the point`,
    );
    return 0n;
  };
  return new Map(
    names.map((name) => [
      name,
      {
        inputNanoUsdPerMillion: readPrice(name, 'input'),
        outputNanoUsdPerMillion: readPrice(name, 'output'),
      },
    ]),
  );
}

function buildWorkingDir(file: ScriptFile, report: Report): WorkingDirRule {
  const { from = 'system', pattern: source = defaultPattern } = file.working_dir ?? {};
  const pattern = readPattern(source);
  if (pattern !== null) return { from, pattern };
  report(
    ['working_dir', 'pattern'],
    'cannot use pattern: expected a regular expression with one group, which is the directory',
  );
  return { from, pattern: /()/ };
}

function buildKeys(context: BuildContext, report: Report): readonly ScriptKey[] {
  const { keys, models } = context.file;
  const known = Object.keys(models);
  reportRepeats(keys, 'key', report);
  reportRepeats(keys, 'name', report);
  return keys.map((key, index) => {
    for (const [at, model] of (key.models ?? []).entries()) {
      if (known.includes(model)) continue;
      report(['keys', index, 'models', at], `unknown model "${model}": expected one of ${quoteAll(known)}`);
    }
    return {
      key: key.key,
      name: key.name,
      models: key.models ?? null,
      tags: key.tags ?? [],
      admin: key.admin ?? false,
      at: context.source.valueAt(['keys', index, 'key']),
    };
  });
}

function reportRepeats(keys: ScriptFile['keys'], field: 'key' | 'name', report: Report): void {
  const seen = new Map<string, number>();
  for (const [index, key] of keys.entries()) {
    const first = seen.get(key[field]);
    if (first === undefined) seen.set(key[field], index);
    else
      report(['keys', index, field], `${field} of keys[${index}] is already the ${field} of keys[${first}]`);
  }
}
