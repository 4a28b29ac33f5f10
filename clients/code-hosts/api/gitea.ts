/**
 * Gitea, and Forgejo, which speaks the same words.
 * Owns which routes are asked and what of their answers is read.
 */
import { z } from 'zod';
import { ParleyError } from '../../../core/parley-error.ts';
import { COMMENTS_MAX, PAGE_ITEMS } from './api-limits.ts';
import {
  collected,
  comment,
  draftTitle,
  issueFields,
  opened,
  paged,
  parsed,
  pullFields,
  readAnswer,
  repository,
  toIssue,
  toPull,
  unwanted,
  wholeNumber,
  type HostClient,
  type HostClientOptions,
  type HostComment,
  type HostPullRequest,
  type IssueCalls,
  type PullCalls,
} from './host-client.ts';

const label = z.object({ id: wholeNumber, name: z.string() });
const issue = z.object({
  ...issueFields,
  labels: z
    .array(label)
    .nullish()
    .transform((labels) => (labels ?? []).map(({ name }) => name)),
});
const pull = z
  .object({ ...pullFields, merged: z.boolean().nullish() })
  .transform((one): HostPullRequest => toPull(one, one.merged === true));

/** How many a page has at most is the server's to say. */
const isEmpty = (entries: readonly unknown[]): boolean => entries.length === 0;

/** By it Gitea knows a draft; the words can be set, these are those of every new server. */
const DRAFT_PREFIX = 'WIP: ';

export function createGiteaClient(options: HostClientOptions, owner: string, repo: string): HostClient {
  const { url, token, fetch, doing } = options;
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    ...(token === null ? {} : { authorization: `token ${token}` }),
  };
  const at = `${url}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`;
  const ask: Ask = async (method, path, body) => {
    const given = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${at}${path}`, { method, headers, ...given });
    const text = await answer.text();
    if (!answer.ok) throw unwanted(options, answer.status, text);
    return parsed(text);
  };
  return { ...issueCalls(ask, doing), ...pullCalls(ask, doing) };
}

type Ask = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) => Promise<unknown>;

function issueCalls(ask: Ask, doing: string): IssueCalls {
  const allComments = async (number: number): Promise<readonly HostComment[]> =>
    readAnswer(z.array(comment).nullish(), await ask('GET', `/issues/${number}/comments`), { doing }) ?? [];
  return {
    async issues({ labels, state, limit }) {
      const listed = paged(async (page) => {
        const query = new URLSearchParams({
          type: 'issues',
          state,
          ...(labels.length === 0 ? {} : { labels: labels.join(',') }),
          limit: String(PAGE_ITEMS),
          page: String(page),
        });
        return readAnswer(z.array(issue), await ask('GET', `/issues?${query.toString()}`), { doing });
      }, isEmpty);
      // A label that the repository does not have is no condition to some versions.
      return await collected(listed, limit, (one) =>
        one.pull_request == null && labels.every((name) => one.labels.includes(name))
          ? toIssue(one, one.labels)
          : null,
      );
    },
    comments: async (number) => (await allComments(number)).slice(0, COMMENTS_MAX),
    commentEndingWith: async (number, end) =>
      (await allComments(number)).find(({ body }) => body.trimEnd().endsWith(end)) ?? null,
    async addComment(number, body) {
      await ask('POST', `/issues/${number}/comments`, { body });
    },
    async changeComment(_issue, id, body) {
      await ask('PATCH', `/issues/comments/${id}`, { body });
    },
  };
}

function pullCalls(ask: Ask, doing: string): PullCalls {
  return {
    defaultBranch: async () => readAnswer(repository, await ask('GET', ''), { doing }).default_branch,
    async pullRequests({ head, base }) {
      const path = `/pulls/${encodeURIComponent(base)}/${head.split('/').map(encodeURIComponent).join('/')}`;
      try {
        return [readAnswer(pull, await ask('GET', path), { doing })];
      } catch (error) {
        // It was seen that the repository is there: the branch it starts from was asked for.
        if (
          error instanceof ParleyError &&
          error.code === 'code_host_refused' &&
          / \(404/.test(error.message)
        )
          return [];
        throw error;
      }
    },
    async open({ head, base, title, body, isDraft }) {
      const draft = { head, base, title: draftTitle(title, DRAFT_PREFIX, isDraft), body };
      const made = ask('POST', '/pulls', draft);
      return await opened(made.then((answer) => readAnswer(pull, answer, { doing })));
    },
    async change(known, { title, body }) {
      // Whether it is ready somebody may have said meanwhile.
      const isDraft = known.title.startsWith(DRAFT_PREFIX);
      await ask('PATCH', `/pulls/${known.number}`, {
        title: draftTitle(title, DRAFT_PREFIX, isDraft),
        body,
      });
    },
    async addLabels(number, labels) {
      const known = new Map<string, number>();
      const listed = paged(async (page) => {
        const path = `/labels?limit=${PAGE_ITEMS}&page=${page}`;
        return readAnswer(z.array(label), await ask('GET', path), { doing });
      }, isEmpty);
      for await (const { id, name } of listed) known.set(name, id);
      const ids = labels.flatMap((name) => known.get(name) ?? []);
      if (ids.length > 0) await ask('POST', `/issues/${number}/labels`, { labels: ids });
      return labels
        .filter((name) => !known.has(name))
        .map((name) => `the repository has no label "${name}": make it there`);
    },
    async askReviewers(number, reviewers) {
      await ask('POST', `/pulls/${number}/requested_reviewers`, { reviewers: [...reviewers] });
      return [];
    },
  };
}
