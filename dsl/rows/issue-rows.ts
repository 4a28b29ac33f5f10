/**
 * Issues of a code host as rows: `number`, `title`, `body`, `comments`, `url`, `author`, `state`, `labels`, `repository`.
 * Owns these fields and the query; the world decides who sends it. The text of an issue may come from any stranger: it
 * is filled in, and never read as a part of the job (D31).
 */
import {
  CODE_HOST_KINDS,
  ISSUE_STATES,
  type CodeHostKind,
  type IssueState,
} from '../../core/plan/plan-issue.ts';
import type { SecretReference } from '../../core/plan/plan.ts';
import type { FieldTypes } from '../plan/plan-scope.ts';
import { quote } from '../read/quote.ts';
import type { Report } from '../check/report.ts';
import { HOST, INTERPOLATION_MARK, REPOSITORY } from '../schema/text-rule.ts';
import { childOf, entryOf, itemsOf, textOf, treeAt, type Tree, type TreeEntry } from '../read/tree.ts';
import type { AskedIssues, JobWorld } from '../world.ts';
import { unread, type DataFile } from './data-file.ts';
import type { Row } from './row.ts';

const COLUMNS: FieldTypes = {
  number: 'int',
  title: 'string',
  body: 'string',
  comments: 'string',
  url: 'string',
  author: 'string',
  state: 'string',
  labels: 'dyn',
  repository: 'string',
};

/** So many are read where the job says nothing: an author who wants more sets a limit. */
const ISSUES_DEFAULT = 100;

interface IssueRowsContext {
  readonly root: Tree;
  readonly conversation: Tree;
  readonly report: Report;
  readonly world: JobWorld;
}

/** `named` is the key that says which kind of host is queried. */
export function issueRows(named: TreeEntry, context: IssueRowsContext): DataFile {
  const { report, world } = context;
  const query = queryOf(named, context);
  if (query === null) return unread('');
  const place = `${quote(query.repository)} at ${query.host}`;
  const file = `the list of issues of ${place}`;
  const answer = world.readIssues?.(query) ?? 'pending';
  const known = { file, spoken: file, columns: COLUMNS };
  if (answer === 'pending') return { ...known, unasked: query, rows: () => [] };
  if ('problem' in answer) {
    report.add('JOB326', named.value.span, answer.problem, { remedy: answer.remedy });
    return unread(file);
  }
  const { rows, doneCount } = answer;
  const { job: _job, token: _token, ...asked } = query;
  return {
    ...known,
    issues: { ...asked, rows },
    whenEmpty: emptyWords(place, doneCount),
    rows: () => rowsOf(query, rows),
  };
}

function emptyWords(place: string, doneCount: number): NonNullable<DataFile['whenEmpty']> {
  if (doneCount > 0)
    return {
      message: `runs of this job have a result of each of the ${doneCount} issues of ${place} that match`,
      remedy: '"--again" takes them once more; "allow_empty: true" makes no conversation of none',
    };
  return {
    message: `no issue of ${place} matches`,
    remedy: 'loosen "label" or "state"; "allow_empty: true" takes none as well',
  };
}

/** Null for what the schema finds wrong. */
function queryOf(
  { key, value }: TreeEntry,
  { root, conversation, report }: IssueRowsContext,
): AskedIssues | null {
  const kind = CODE_HOST_KINDS.find((one) => one === key);
  const repository = textOf(childOf(value, 'repository'));
  const entry = textOf(childOf(conversation, 'id'));
  if (kind === undefined || repository === null || entry === null) return null;
  const open = openPlace(value);
  if (open !== null) {
    report.add('JOB404', open.span, 'what a code host is asked is not interpolated', {
      remedy: 'an input may stand for a whole value, and "where" is a condition on the issues',
    });
    return null;
  }
  const host = textOf(childOf(value, 'host')) ?? kind;
  const state = wordOf(childOf(value, 'state'), ISSUE_STATES) ?? 'open';
  const limit = childOf(value, 'limit');
  const count = limit?.kind === 'scalar' && typeof limit.value === 'number' ? limit.value : ISSUES_DEFAULT;
  if (!REPOSITORY.pattern.test(repository) || !HOST.pattern.test(host)) return null;
  return {
    job: textOf(childOf(root, 'name')) ?? '',
    token: tokenOf(root, textOf(treeAt(value, ['token', 'secret']))),
    ...{ entry, kind: kind satisfies CodeHostKind, host, repository, state, limit: count },
    labels: itemsOf(childOf(value, 'label')).flatMap((tree) => textOf(tree) ?? []),
  };
}

function openPlace(value: Tree): Tree | null {
  const places = [childOf(value, 'repository'), ...itemsOf(childOf(value, 'label'))];
  return (
    places.find((tree) => tree !== undefined && (textOf(tree) ?? '').includes(INTERPOLATION_MARK)) ?? null
  );
}

function wordOf(tree: Tree | undefined, words: readonly IssueState[]): IssueState | undefined {
  const text = textOf(tree);
  return words.find((word) => word === text);
}

function tokenOf(root: Tree, name: string | null): SecretReference | null {
  const declared = name === null ? undefined : entryOf(childOf(root, 'secrets'), name)?.value;
  const from = textOf(childOf(declared, 'from'));
  const [named, path] = [textOf(childOf(declared, 'name')), textOf(childOf(declared, 'path'))];
  if ((from === 'env' || from === 'store') && named !== null) return { from, name: named };
  return from === 'file' && path !== null ? { from, path } : null;
}

function* rowsOf(
  { host, repository }: AskedIssues,
  rows: NonNullable<DataFile['issues']>['rows'],
): Generator<Row> {
  let number = 0;
  for (const { labels, ...row } of rows) {
    number += 1;
    const { title, url } = row;
    yield {
      ...{ number, line: 1, file: url === '' ? `issue ${row.number} of ${repository}` : url },
      fields: { ...row, labels: [...labels], repository },
      issue: { host, repository, number: row.number, title, url },
    };
  }
}
