/**
 * What stands in the pull request of an item: title, body, and the mark by which it is found again.
 * Owns the words in braces and the layout; what agents and issues write stands in it as text alone (D31), and the
 * caller takes secrets out of it.
 */
import { fillWords } from '../text/fill-words.ts';
import type { PlanIssue } from './plan-issue.ts';
import type { PlanPullRequest } from './plan-deliver.ts';

/** `{title}` is that of the issue, else `{job}: {key}`. */
export const TITLE_DEFAULT = '{title}';
/** Hosts take 255 characters. */
const TITLE_CHARS_MAX = 240;
/** A reviewer reads it before the change itself; the whole is in the trajectory. */
const SUMMARY_CHARS_MAX = 6_000;
/** Hosts take 65,536 characters. */
const BODY_CHARS_MAX = 60_000;

/** The facts that the text of a pull request may use. */
export interface PullRequestFacts {
  readonly job: string;
  readonly run: string;
  readonly key: string;
  readonly issue: PlanIssue | null;
  /** True when the issue is of the repository that the branch is pushed to. */
  readonly isOwnIssue: boolean;
  /** The agent's last message; null for none. */
  readonly summary: string | null;
  /** Command of the check, and whether it passed; null where the job has none. */
  readonly check: { readonly command: string; readonly hasPassed: boolean } | null;
  /** In USD, as text; null where nothing has a price. */
  readonly usd: string | null;
  readonly model: string;
}

export interface PullRequestText {
  readonly title: string;
  readonly body: string;
  readonly comment: string | null;
  readonly marker: string;
}

/** `hide` takes out secrets. */
export function pullRequestText(
  { title, body, comment }: Pick<PlanPullRequest, 'title' | 'body' | 'comment'>,
  facts: PullRequestFacts,
  hide: (text: string) => string,
): PullRequestText {
  const words = wordsOf(facts);
  const marker = markerOf(facts);
  const filled = (text: string): string => hide(fillWords(text, words));
  const parts = [filled(body), closing(facts), summaryPart(facts, hide), factsPart(facts, hide)];
  const whole = parts.filter((part) => part !== '').join('\n\n');
  return {
    title: cutLine(filled(title)),
    body: `${cut(whole, BODY_CHARS_MAX)}\n\n${marker}`,
    comment: comment === null || facts.issue === null ? null : cut(filled(comment), BODY_CHARS_MAX),
    marker,
  };
}

/** Invisible to readers, and unique among all items of all runs. */
function markerOf({ run, key }: PullRequestFacts): string {
  return `<!-- parley: ${run} ${key} -->`;
}

function wordsOf({ job, run, key, issue }: PullRequestFacts): Readonly<Record<string, string>> {
  return {
    ...{ job, run, key },
    title: issue === null ? `${job}: ${key}` : issue.title,
    issue: issue === null ? '' : `#${issue.number}`,
    issue_title: issue?.title ?? '',
    issue_url: issue?.url ?? '',
  };
}

/** Merging closes it; one of another repository is only named. */
function closing({ issue, isOwnIssue }: PullRequestFacts): string {
  if (issue === null) return '';
  return isOwnIssue ? `Closes #${issue.number}` : issue.url === '' ? '' : `For ${issue.url}`;
}

function summaryPart({ summary }: PullRequestFacts, hide: (text: string) => string): string {
  if (summary === null || summary.trim() === '') return '';
  return `## Summary\n\n${fenced(cut(hide(summary.trim()), SUMMARY_CHARS_MAX))}`;
}

/** As it was written: it mentions no user, closes no issue and loads nothing. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

function factsPart(
  { run, key, check, usd, model }: PullRequestFacts,
  hide: (text: string) => string,
): string {
  const rows = [
    [
      'check',
      check === null ? 'none' : `${check.hasPassed ? 'passed' : 'not passed'}: ${code(hide(check.command))}`,
    ],
    ['cost', usd === null ? 'without a price' : `${usd} USD`],
    ['model', code(model)],
    ['run', `${code(run)}, ${code(key)}`],
  ];
  return ['| | |', '| --- | --- |', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');
}

/** In a cell of a table. */
function code(text: string): string {
  const line = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll('`', "'")
    .replaceAll('|', String.raw`\|`);
  return `\`${line.length > 200 ? `${line.slice(0, 200)}…` : line}\``;
}

function cutLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= TITLE_CHARS_MAX
    ? line
    : `${line.slice(0, TITLE_CHARS_MAX - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax).replace(/[\uD800-\uDBFF]$/, '')}\n…`;
}
