/**
 * GitHub, and GitHub Enterprise, through the official client.
 * Owns which routes are asked and what of their answers is read.
 */
import { Octokit } from '@octokit/core';
import { z } from 'zod';
import { ParleyError } from '../../../core/parley-error.ts';
import { COMMENTS_MAX, PAGE_ITEMS } from './api-limits.ts';
import {
  anyText,
  collected,
  comment,
  issueFields,
  opened,
  paged,
  pullFields,
  readAnswer,
  repository,
  toIssue,
  toPull,
  unwanted,
  type HostClient,
  type HostClientOptions,
  type HostComment,
  type HostPullRequest,
  type IssueCalls,
  type PullCalls,
} from './host-client.ts';

const issue = z.object({
  ...issueFields,
  labels: z.array(z.union([z.string(), z.object({ name: anyText }).transform(({ name }) => name)])),
});
const pull = z
  .object({ ...pullFields, merged_at: z.string().nullish() })
  .transform((one): HostPullRequest => toPull(one, one.merged_at != null));

export function createGithubClient(options: HostClientOptions, owner: string, repo: string): HostClient {
  const { url, token, fetch, doing } = options;
  const silent = (): void => undefined;
  const octokit = new Octokit({
    ...(token === null ? {} : { auth: token }),
    baseUrl: url,
    userAgent: 'parley',
    request: { fetch },
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  const of = { owner, repo };
  const asked = <T extends { readonly data: unknown }>(call: Promise<T>): Promise<unknown> =>
    call.then(
      ({ data }) => data,
      (error: unknown) => {
        throw ownError(error, options);
      },
    );
  const tools: Tools = { octokit, of, asked, doing };
  return { ...issueCalls(tools), ...pullCalls(tools) };
}

interface Tools extends Pick<HostClientOptions, 'doing'> {
  readonly octokit: Octokit;
  readonly of: { readonly owner: string; readonly repo: string };
  /** The data of an answer. */
  asked<T extends { readonly data: unknown }>(call: Promise<T>): Promise<unknown>;
}

function issueCalls({ octokit, of, asked, doing }: Tools): IssueCalls {
  const pageOf = async (issue: number, page: number, size: number): Promise<readonly HostComment[]> => {
    const call = octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...of,
      issue_number: issue,
      per_page: size,
      page,
    });
    return readAnswer(z.array(comment), await asked(call), { doing });
  };
  return {
    async issues({ labels, state, limit }) {
      const listed = paged(async (page) => {
        const call = octokit.request('GET /repos/{owner}/{repo}/issues', {
          ...of,
          state,
          ...(labels.length === 0 ? {} : { labels: labels.join(',') }),
          sort: 'created',
          direction: 'desc',
          per_page: PAGE_ITEMS,
          page,
        });
        return readAnswer(z.array(issue), await asked(call), { doing });
      });
      // GitHub lists pull requests among the issues.
      return await collected(listed, limit, (one) =>
        one.pull_request == null ? toIssue(one, one.labels) : null,
      );
    },
    comments: (number) => pageOf(number, 1, COMMENTS_MAX),
    async commentEndingWith(number, end) {
      const listed = paged((page) => pageOf(number, page, PAGE_ITEMS));
      const ending = (one: HostComment) => (one.body.trimEnd().endsWith(end) ? one : null);
      return (await collected(listed, 1, ending))[0] ?? null;
    },
    async addComment(number, body) {
      const to = { ...of, issue_number: number, body };
      await asked(octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', to));
    },
    async changeComment(_issue, id, body) {
      const to = { ...of, comment_id: id, body };
      await asked(octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', to));
    },
  };
}

function pullCalls({ octokit, of, asked, doing }: Tools): PullCalls {
  return {
    async defaultBranch() {
      const answer = await asked(octokit.request('GET /repos/{owner}/{repo}', of));
      return readAnswer(repository, answer, { doing }).default_branch;
    },
    async pullRequests({ head, base }) {
      const question = {
        ...of,
        head: `${of.owner}:${head}`,
        base,
        state: 'all',
        per_page: PAGE_ITEMS,
      } as const;
      const answer = await asked(octokit.request('GET /repos/{owner}/{repo}/pulls', question));
      return readAnswer(z.array(pull), answer, { doing });
    },
    async open({ isDraft, ...draft }) {
      const call = octokit.request('POST /repos/{owner}/{repo}/pulls', { ...of, ...draft, draft: isDraft });
      return await opened(asked(call).then((answer) => readAnswer(pull, answer, { doing })));
    },
    async change({ number }, { title, body }) {
      const to = { ...of, pull_number: number, title, body };
      await asked(octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', to));
    },
    async addLabels(number, labels) {
      const to = { ...of, issue_number: number, labels: [...labels] };
      await asked(octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', to));
      return [];
    },
    async askReviewers(number, reviewers) {
      const to = { ...of, pull_number: number, reviewers: [...reviewers] };
      const route = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers';
      await asked(octokit.request(route, to));
      return [];
    },
  };
}

/** What our own `fetch` threw is inside what the client makes of it. */
function ownError(error: unknown, options: Pick<HostClientOptions, 'doing'>): unknown {
  if (!(error instanceof Error)) return error;
  if (error.cause instanceof ParleyError) return error.cause;
  const { status, response } = error as {
    readonly status?: number;
    readonly response?: { readonly data?: unknown };
  };
  if (typeof status !== 'number' || response === undefined) return error;
  return unwanted(options, status, JSON.stringify(worded(response.data)));
}

/** GitHub says in a list what is wrong with which field. */
function worded(data: unknown): unknown {
  const shape = z.object({ message: z.string(), errors: z.array(z.unknown()).optional() }).safeParse(data);
  if (!shape.success) return {};
  const { message, errors = [] } = shape.data;
  const further = errors.map((one) => z.object({ message: z.string() }).safeParse(one).data?.message ?? one);
  return {
    message: [message, ...further.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))].join(
      '; ',
    ),
  };
}
