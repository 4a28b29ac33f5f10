/**
 * Prompts exist and say something.
 * Owns the reading of prompt files through the world; their text is literal and never interpolated.
 */
import { quote } from '../quote.ts';
import type { Report } from '../report.ts';
import { LOCAL_PATH } from '../schema/text-rule.ts';
import { childOf, textOf, type Tree } from '../tree.ts';
import type { FileProblem } from '../world.ts';
import { conversationsOf, type CheckContext } from './check-context.ts';

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
    if (file === undefined || path === null || !LOCAL_PATH.pattern.test(path) || texts.has(path)) continue;
    const read = world.readFile(path);
    if ('problem' in read) addFileProblem({ path, file, report }, read.problem);
    else if (read.text.trim() === '') addEmpty(report, file, `the prompt file ${quote(path)} is empty`);
    else texts.set(path, read.text);
  }
  return texts;
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

interface PromptFile {
  readonly path: string;
  readonly file: Tree;
  readonly report: Report;
}

function addFileProblem({ path, file, report }: PromptFile, problem: FileProblem): void {
  const name = quote(path);
  switch (problem) {
    case 'missing':
      return report.add('JOB303', file.span, `the prompt file ${name} does not exist`, {
        remedy: 'paths are relative to the job file',
      });
    case 'directory':
      return report.add('JOB305', file.span, `the prompt file ${name} is a folder`, {
        remedy: 'name a file in it',
      });
    case 'too_large':
      return report.add('JOB305', file.span, `the prompt file ${name} is too large`, {
        remedy: 'keep prompts short; put data in the repository',
      });
    case 'binary':
      return report.add('JOB305', file.span, `the prompt file ${name} is not text`);
  }
}
