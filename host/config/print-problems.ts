/**
 * Problems of the configuration for people: place, message, the line with a caret, remedy.
 * Owns what is underlined and that a secret beside it is not shown (D20); must not word a problem.
 */
import type { Diagnostic } from '../../dsl/check/diagnostic.ts';
import { createExcerpts, type Excerpts } from '../../dsl/read/excerpt.ts';
import type { Span } from '../../dsl/read/text-position.ts';
import type { Tree } from '../../dsl/read/tree.ts';
import type { DeploymentFile } from './deployment-file.ts';
import { printProblem, type Problem } from './problem.ts';
import { secretSpans } from './schema/secret-places.ts';

/** Ends with a line break unless there is nothing to say. */
export function printProblems(problems: readonly Problem[], file: DeploymentFile | null): string {
  if (file === null) return problems.map((problem) => printProblem(problem)).join('');
  const excerpts = createExcerpts(file.text, masksOf(file));
  return problems.map((problem) => printProblem(problem, excerptOf(problem, file, excerpts))).join('');
}

/** None for what stands in no file, or in no line of it. */
function excerptOf(
  { file: shown, line, column }: Problem,
  file: DeploymentFile,
  excerpts: Excerpts,
): string[] {
  if (line === null || column === null || shown !== file.shown) return [];
  const length = lengthAt(file, { line, column });
  return excerpts.draw({ line, column, endLine: line, endColumn: column + length });
}

/** As long as the key or value that begins there, else as the word. */
function lengthAt(file: DeploymentFile, at: { readonly line: number; readonly column: number }): number {
  const span =
    file.tree === null
      ? undefined
      : spansOf(file.tree).find((one) => {
          const { line, column } = file.lines.position(one.start);
          return line === at.line && column === at.column;
        });
  if (span !== undefined) return [...file.text.slice(span.start, span.end).split('\n', 1).join('')].length;
  const rest = [...file.lines.lineText(at.line)].slice(at.column - 1).join('');
  return [...(/^[^\s:,\]}]+/.exec(rest)?.[0] ?? ' ')].length;
}

/** Of keys and single values: a whole block is not underlined. */
function spansOf(tree: Tree): readonly Span[] {
  switch (tree.kind) {
    case 'scalar':
      return [tree.span];
    case 'list':
      return tree.items.flatMap(spansOf);
    case 'map':
      return tree.entries.flatMap(({ keySpan, value }) => [keySpan, ...spansOf(value)]);
    default:
      return tree satisfies never;
  }
}

/** What excerpts draw as asterisks is passed to them as a diagnostic. */
function masksOf({ shown, text, tree, lines }: DeploymentFile): readonly Diagnostic[] {
  return secretSpans(text, tree).map(({ start, end }) => {
    const [from, to] = [lines.position(start), lines.position(end)];
    return {
      code: 'JOB218',
      severity: 'error',
      message: '',
      remedy: null,
      file: shown,
      ...from,
      endLine: to.line,
      endColumn: to.column,
    };
  });
}
