/**
 * Prompts exist and say something.
 * Owns the reading of prompt files through the world; their text is literal and never interpolated.
 */
import { didYouMean } from './nearest-name.ts';
import { quote } from '../read/quote.ts';
import type { Report } from './report.ts';
import { LOCAL_PATH } from '../schema/text-rule.ts';
import { childOf, entriesOf, textOf, type Tree } from '../read/tree.ts';
import { FILE_PROBLEM_WORDS, type FileProblem } from '../world.ts';
import { conversationsOf, type CheckContext } from './check-context.ts';

/** `{{name}}` in a prompt file with `vars`. */
export const PROMPT_VARIABLE = /\{\{\s*([A-Za-z][A-Za-z0-9_]*)\s*\}\}/g;

/** Texts of the prompt files by path, each read once. */
export type PromptFiles = ReadonlyMap<string, string>;

export function checkPrompts({ root, report, world }: CheckContext): PromptFiles {
  const texts = new Map<string, string>();
  for (const { tree } of conversationsOf(root)) {
    const prompt = childOf(tree, 'prompt');
    const inline = childOf(prompt, 'text');
    if (inline !== undefined) checkInline(inline, report);
    const file = childOf(prompt, 'path');
    const path = textOf(file);
    if (file === undefined || path === null || !LOCAL_PATH.pattern.test(path)) continue;
    if (!texts.has(path)) {
      const read = world.readFile(path);
      if ('problem' in read) addFileProblem(read.problem, path, { file, report });
      else if (read.text.trim() === '') addEmpty(report, file, `the prompt file ${quote(path)} is empty`);
      else texts.set(path, read.text);
    }
    const text = texts.get(path);
    if (text !== undefined) checkVariables(text, { prompt, file, report });
  }
  return texts;
}

interface PromptPlace {
  readonly prompt: Tree | undefined;
  readonly file: Tree;
  readonly report: Report;
}

/** A file without `vars` is literal, whatever braces it holds. */
function checkVariables(text: string, { prompt, file, report }: PromptPlace): void {
  const vars = entriesOf(childOf(prompt, 'vars'));
  if (vars.length === 0) return;
  const named = new Set([...text.matchAll(PROMPT_VARIABLE)].map((match) => match[1] ?? ''));
  const known = vars.map(({ key }) => key);
  for (const name of named) {
    if (known.includes(name)) continue;
    report.add(
      'JOB322',
      file.span,
      `the prompt file names the variable ${quote(name)}, which "vars" does not have`,
      { remedy: didYouMean(name, known, `add it: vars: {${name}: …}`) },
    );
  }
  for (const { key, keySpan } of vars) {
    if (named.has(key)) continue;
    report.add('JOB322', keySpan, `the prompt file does not name the variable ${quote(key)}`, {
      remedy: `write {{${key}}} in it, or remove the variable`,
    });
  }
}

function checkInline(inline: Tree, report: Report): void {
  const text = textOf(inline);
  // A shorthand that was refused leaves a blank behind that has no text of its own.
  if (text === null || text === ' ') return;
  if (text.trim() === '') return addEmpty(report, inline, 'the prompt is empty');
  if (!/^\S+\.(?:md|txt|markdown|prompt)$/.test(text.trim())) return;
  report.add('JOB505', inline.span, `the whole prompt is ${quote(text.trim())}, which looks like a file`, {
    remedy: `write prompt: {file: ${text.trim()}} to send what the file holds`,
  });
}

function addEmpty(report: Report, tree: Tree, message: string): void {
  report.add('JOB304', tree.span, message, { remedy: 'write what the agent is asked to do' });
}

const REMEDIES: Partial<Record<FileProblem, string>> = {
  missing: 'paths are relative to the job file',
  directory: 'name a file in it',
  too_large: 'keep prompts short; put data in the repository',
};

function addFileProblem(
  problem: FileProblem,
  path: string,
  { file, report }: Pick<PromptPlace, 'file' | 'report'>,
): void {
  const code = problem === 'missing' ? 'JOB303' : 'JOB305';
  report.add(code, file.span, `the prompt file ${quote(path)} ${FILE_PROBLEM_WORDS[problem]}`, {
    remedy: REMEDIES[problem] ?? null,
  });
}
