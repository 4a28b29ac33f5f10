/**
 * Ids of conversations are unique, and so are names of scores and files of reports.
 * Owns these comparisons; keys after expansion are compared in expand-items.ts.
 */
import { quote } from '../read/quote.ts';
import type { Span } from '../read/text-position.ts';
import { childOf, itemsOf, textOf, type Tree } from '../read/tree.ts';
import type { CheckContext } from './check-context.ts';

export function checkIds({ root, report }: CheckContext): void {
  const ids = itemsOf(childOf(root, 'conversations')).map((tree) => childOf(tree, 'id'));
  for (const { text, span, first } of repeated(ids)) {
    report.add('JOB301', span, `the id ${quote(text)} is taken`, {
      remedy: 'ids are unique in a job',
      related: [{ span: first, message: 'first here' }],
    });
  }
  for (const entry of itemsOf(childOf(root, 'conversations'))) checkScores(entry, report);
  checkScores(childOf(root, 'defaults'), report);
  const files = itemsOf(childOf(root, 'report')).map((tree) => childOf(tree, 'to'));
  for (const { text, span, first } of repeated(files)) {
    report.add('JOB312', span, `a report is written to ${quote(text)} already`, {
      related: [{ span: first, message: 'first here' }],
    });
  }
}

function checkScores(tree: Tree | undefined, report: CheckContext['report']): void {
  const names = itemsOf(childOf(tree, 'scores')).map((score) => childOf(score, 'name'));
  for (const { text, span, first } of repeated(names)) {
    report.add('JOB301', span, `the name ${quote(text)} is taken`, {
      remedy: 'names of scores are unique in a conversation',
      related: [{ span: first, message: 'first here' }],
    });
  }
}

function repeated(trees: readonly (Tree | undefined)[]): { text: string; span: Span; first: Span }[] {
  const seen = new Map<string, Span>();
  return trees.flatMap((tree) => {
    const text = textOf(tree);
    if (tree === undefined || text === null) return [];
    const first = seen.get(text);
    if (first === undefined) seen.set(text, tree.span);
    return first === undefined ? [] : [{ text, span: tree.span, first }];
  });
}
