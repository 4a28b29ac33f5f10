// Script text to a checked script, or to the full list of what is wrong with it. Pure: files come through a parameter.
// It must not stop at the first problem of a stage, nor throw for anything the author wrote.

import type { ReadFile } from './build-context.ts';
import { buildScript } from './build-script.ts';
import { scriptBytesMax } from '../limits.ts';
import { sortProblems } from './problem.ts';
import type { Problem } from './problem.ts';
import { scriptFileSchema } from './script-schema.ts';
import type { GatewayScript } from './script.ts';
import { readYaml } from './yaml-source.ts';
import type { YamlSource } from './yaml-source.ts';

/** Either a script and no problems, or null and at least one. */
export interface ParsedScript {
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
