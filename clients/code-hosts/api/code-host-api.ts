/**
 * Issues and pull requests of every kind of code host, behind one port.
 * Owns bounds of what is read, and that a pull request is brought up to date and never doubled; the words of a host are
 * its client's.
 */
import { ParleyError } from '../../../core/parley-error.ts';
import type { IssueRow } from '../../../core/plan/plan-issue.ts';
import type { Clock } from '../../../ports/clock.ts';
import type {
  CodeHostApi,
  IssueRequest,
  PullRequestAnswer,
  PullRequestRequest,
} from '../../../ports/code-host-api.ts';
import type { CodeHosts } from '../code-hosts.ts';
import { parseRepositoryName } from '../repository-name.ts';
import { createApiFetch, refused } from './api-fetch.ts';
import * as limits from './api-limits.ts';
import type { HostApi } from './api-of-host.ts';
import { giteaWords } from './gitea.ts';
import { githubWords } from './github.ts';
import { gitlabWords } from './gitlab.ts';
import {
  createHostClient,
  type HostClient,
  type HostComment,
  type HostPullRequest,
  type HostRepository,
  type HostWords,
  type ListedIssue,
} from './host-client.ts';
import { plainAddress, plainLine, plainText } from './plain-text.ts';

const WORDS: Readonly<Record<HostApi['kind'], (repository: HostRepository) => HostWords>> = {
  github: githubWords,
  gitlab: gitlabWords,
  gitea: giteaWords,
};

interface CodeHostApiOptions {
  readonly codeHosts: CodeHosts;
  /** By provider; null where the kind of host is unknown. */
  apiOf(provider: string): HostApi | null;
  /** Credential of the deployment by provider; null for none. */
  credentialOf(provider: string): string | null;
  readonly clock: Clock;
}

/** The port over GitHub, GitLab and Gitea; which of them is called follows from the provider. */
export function createCodeHostApi(options: CodeHostApiOptions): CodeHostApi {
  return {
    providerOf: (provider) => providerOf(provider, options),
    async issues(request) {
      const doing = `read issues of "${request.repository}" at ${request.host}`;
      const client = clientOf(options, {
        ...{
          provider: request.host,
          name: request.repository,
          token: request.token,
          kind: request.kind,
          doing,
        },
        rights: 'give the credential read access to issues and repositories',
        waitMsMax: limits.PLAN_WAIT_MS_MAX,
        onWait: request.onWait,
      });
      return await readIssues(client, request, doing);
    },
    async pullRequest(request) {
      const provider = providerOf(request.repository.provider, options);
      const doing = `open a pull request for branch "${request.head}" of "${request.repository.name}" at ${provider}`;
      const client = clientOf(options, {
        ...{ provider, name: request.repository.name, token: request.token, kind: null, doing },
        rights: 'give the credential write access to pull requests and issues',
        waitMsMax: limits.RESULT_WAIT_MS_MAX,
        onWait: request.onWait,
      });
      return await bringUpToDate(client, request, doing);
    },
  };
}

/** @throws ParleyError invalid_request */
function providerOf(provider: string | null, { codeHosts }: CodeHostApiOptions): string {
  return codeHosts.locate({ provider, name: 'any/any' }).provider;
}

interface Asking {
  readonly provider: string;
  readonly name: string;
  readonly token: string | null;
  /** The kind the job names; null takes any. */
  readonly kind: HostApi['kind'] | null;
  readonly doing: string;
  readonly rights: string;
  readonly waitMsMax: number;
  onWait(words: string): void;
}

function clientOf(options: CodeHostApiOptions, asking: Asking): HostClient {
  const { provider, name, doing, kind } = asking;
  options.codeHosts.locate({ provider, name });
  const parts = parseRepositoryName(name);
  const api = options.apiOf(provider);
  if (api === null || parts === null)
    throw refused(
      { doing },
      'nobody knows which interface the host speaks',
      `write code_hosts.${provider}.api: { kind: gitea } into parley.yaml, or github or gitlab`,
    );
  if (kind !== null && kind !== api.kind)
    throw refused(
      { doing },
      `the host speaks ${api.kind}, not ${kind}`,
      `write "${api.kind}" in place of "${kind}"`,
    );
  const credential = `set code_hosts.${provider}.token in parley.yaml, or name a secret of the job`;
  const fetch = createApiFetch({
    ...{ clock: options.clock, doing, waitMsMax: asking.waitMsMax, onWait: asking.onWait },
    remedies: { credential, rights: asking.rights },
  });
  const token = asking.token ?? options.credentialOf(provider);
  return createHostClient({ url: api.url, token, fetch, doing }, WORDS[api.kind]({ ...parts, name }));
}

async function readIssues(
  client: HostClient,
  request: IssueRequest,
  doing: string,
): Promise<readonly IssueRow[]> {
  const listed = await client.issues(request);
  const rows: IssueRow[] = [];
  let chars = 0;
  for (const one of listed) {
    const comments = one.commentCount === 0 ? [] : await client.comments(one.number);
    const row = rowOf(one, comments);
    chars += row.title.length + row.body.length + row.comments.length;
    if (chars > limits.ROWS_CHARS_MAX)
      throw refused(
        { doing },
        `${listed.length} issues have more than ${limits.ROWS_CHARS_MAX} characters`,
        'lower "limit", or name a label',
      );
    rows.push(row);
  }
  return rows;
}

function rowOf(issue: ListedIssue, comments: readonly HostComment[]): IssueRow {
  return {
    number: issue.number,
    title: plainLine(issue.title, limits.TITLE_CHARS_MAX),
    body: plainText(issue.body, limits.BODY_CHARS_MAX),
    comments: plainText(comments.map(commentText).join('\n\n'), limits.COMMENTS_CHARS_MAX),
    url: plainAddress(issue.url, limits.ADDRESS_CHARS_MAX),
    author: plainLine(issue.author, limits.NAME_CHARS_MAX),
    state: issue.state,
    labels: issue.labels.slice(0, limits.LABELS_MAX).map((name) => plainLine(name, limits.LABEL_CHARS_MAX)),
  };
}

function commentText({ author, at, body }: HostComment): string {
  const head = `${plainLine(author, limits.NAME_CHARS_MAX)}, ${plainLine(at, limits.NAME_CHARS_MAX)}:`;
  return `${head}\n${plainText(body, limits.COMMENT_CHARS_MAX)}`;
}

/** Searched before it is opened: after a kill behind the opening the next try finds it, and opens no second one. */
async function bringUpToDate(
  client: HostClient,
  request: PullRequestRequest,
  doing: string,
): Promise<PullRequestAnswer> {
  const base = request.base ?? (await client.defaultBranch());
  const branches = { head: request.head, base };
  const before = ownOf(await client.pullRequests(branches), request, doing);
  const made = before === null ? await client.open({ ...request, ...branches }) : null;
  // Another process was faster, or the answer to an earlier try was lost.
  const known = before ?? made ?? ownOf(await client.pullRequests(branches), request, doing);
  if (known === null)
    throw refused({ doing }, 'the host says there is one, and shows none', 'look at the repository');
  const { number } = known;
  const url = plainAddress(known.url, limits.ADDRESS_CHARS_MAX);
  if (known.state !== 'open') return { number, url, state: known.state, notes: [] };
  if (made === null && !saysTheSame(known, request)) await client.change(known, request);
  const notes = [
    ...(await noted('labels', request.labels, (labels) => client.addLabels(number, labels))),
    ...(await noted('reviewers', request.reviewers, (reviewers) => client.askReviewers(number, reviewers))),
    ...(await noted('comment', request.comment === null ? [] : [request.comment], async ([comment]) => {
      if (comment !== undefined)
        await say(client, request, { issue: comment.issue, text: comment.text.replaceAll('{url}', url) });
      return [];
    })),
  ];
  return { number, url, state: made === null ? 'updated' : 'opened', notes };
}

/** The open one first; null when there is none. @throws ParleyError code_host_refused: an open one is not this run's */
function ownOf(
  pulls: readonly HostPullRequest[],
  { marker }: Pick<PullRequestRequest, 'marker'>,
  doing: string,
): HostPullRequest | null {
  const own = pulls.filter(({ body }) => endOf(body) === marker || endOf(body).endsWith(`\n${marker}`));
  const open = pulls.find(({ state }) => state === 'open');
  if (open !== undefined && !own.includes(open))
    throw refused(
      { doing },
      `number ${open.number} is open for it, which this run has not made`,
      'close that one, or change "deliver.branch"; then "parley collect RUN"',
    );
  return open ?? own.at(0) ?? null;
}

const endOf = (body: string): string => body.replaceAll('\r\n', '\n').trimEnd();

function saysTheSame({ title, body }: HostPullRequest, request: PullRequestRequest): boolean {
  return title.endsWith(request.title) && endOf(body) === endOf(request.body);
}

/** A refused extra becomes a note, and the pull request stays; other errors are thrown, so that it is tried again. */
async function noted<T>(
  what: string,
  wanted: readonly T[],
  act: (wanted: readonly T[]) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  if (wanted.length === 0) return [];
  try {
    return (await act(wanted)).map((note) => `${what}: ${note}`);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'code_host_refused') throw error;
    return [`${what}: ${plainLine(error.message, limits.REASON_CHARS_MAX)}`];
  }
}

/** One comment of the run's own, known by its end. */
async function say(
  client: HostClient,
  { marker }: Pick<PullRequestRequest, 'marker'>,
  { issue, text }: { readonly issue: number; readonly text: string },
): Promise<void> {
  const whole = `${text}\n\n${marker}`;
  const before = await client.commentEndingWith(issue, marker);
  if (before === null) await client.addComment(issue, whole);
  else if (endOf(before.body) !== whole) await client.changeComment(issue, before.id, whole);
}
