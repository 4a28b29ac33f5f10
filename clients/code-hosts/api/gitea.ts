/**
 * Gitea, and Forgejo, which speaks the same words.
 * Owns which routes are asked and what of their answers is read.
 */
import { z } from 'zod';
import { ParleyError } from '../../../core/parley-error.ts';
import { COMMENTS_MAX, PAGE_ITEMS, PAGES_MAX } from './api-limits.ts';
import {
  anyText,
  login,
  readAnswer,
  unwanted,
  wholeNumber,
  type HostClient,
  type HostClientOptions,
  type HostComment,
  type HostPullRequest,
  type IssueCalls,
  type ListedIssue,
  type PullCalls,
} from './host-client.ts';

const label = z.object({ id: wholeNumber, name: z.string() });
const issue = z.object({
  number: wholeNumber,
  title: z.string(),
  body: anyText,
  html_url: z.string(),
  user: login,
  state: z.enum(['open', 'closed']),
  labels: z.array(label).nullish(),
  comments: z.int().min(0).default(0),
  pull_request: z.unknown().optional(),
});
const comment = z.object({ id: wholeNumber, user: login, created_at: z.string(), body: anyText });
const pull = z.object({
  number: wholeNumber,
  html_url: z.string(),
  state: z.enum(['open', 'closed']),
  merged: z.boolean().nullish(),
  title: z.string(),
  body: anyText,
});
const repository = z.object({ default_branch: z.string().min(1) });

/** By it Gitea knows a draft; the words can be set, these are those of every new server. */
const DRAFT_PREFIX = 'WIP: ';

type Method = 'GET' | 'POST' | 'PATCH';

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

type Ask = (method: Method, path: string, body?: object) => Promise<unknown>;

function issueCalls(ask: Ask, doing: string): IssueCalls {
  const allComments = async (number: number): Promise<readonly HostComment[]> =>
    readAnswer(z.array(comment).nullish(), await ask('GET', `/issues/${number}/comments`), { doing })?.map(
      toComment,
    ) ?? [];
  return {
    async issues({ labels, state, limit }) {
      const found: ListedIssue[] = [];
      for (let page = 1; page <= PAGES_MAX && found.length < limit; page += 1) {
        const query = new URLSearchParams({
          type: 'issues',
          state,
          ...(labels.length === 0 ? {} : { labels: labels.join(',') }),
          limit: String(PAGE_ITEMS),
          page: String(page),
        });
        const listed = readAnswer(z.array(issue), await ask('GET', `/issues?${query.toString()}`), { doing });
        // A label that the repository does not have is no condition to some versions.
        const meant = listed.filter((one) =>
          labels.every((name) => one.labels?.some((has) => has.name === name)),
        );
        found.push(...meant.filter((one) => one.pull_request == null).map(toIssue));
        // How many a page has at most is the server's to say.
        if (listed.length === 0) break;
      }
      return found.slice(0, limit);
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
        return [toPull(readAnswer(pull, await ask('GET', path), { doing }))];
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
      const draft = { head, base, title: draftTitle(title, isDraft), body };
      try {
        return toPull(readAnswer(pull, await ask('POST', '/pulls', draft), { doing }));
      } catch (error) {
        if (error instanceof ParleyError && /already exists/i.test(error.message)) return null;
        throw error;
      }
    },
    async change(known, { title, body }) {
      // Whether it is ready somebody may have said meanwhile.
      const isDraft = known.title.startsWith(DRAFT_PREFIX);
      await ask('PATCH', `/pulls/${known.number}`, { title: draftTitle(title, isDraft), body });
    },
    async addLabels(number, labels) {
      const known = new Map<string, number>();
      for (let page = 1; page <= PAGES_MAX; page += 1) {
        const path = `/labels?limit=${PAGE_ITEMS}&page=${page}`;
        const listed = readAnswer(z.array(label), await ask('GET', path), { doing });
        for (const { id, name } of listed) known.set(name, id);
        if (listed.length === 0) break;
      }
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

function draftTitle(title: string, isDraft: boolean): string {
  return isDraft && !title.startsWith(DRAFT_PREFIX) ? `${DRAFT_PREFIX}${title}` : title;
}

/** Undefined for what is no JSON, which no schema takes. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toIssue({
  html_url: url,
  user: author,
  comments,
  labels,
  ...one
}: z.infer<typeof issue>): ListedIssue {
  const { number, title, body, state } = one;
  const names = (labels ?? []).map(({ name }) => name);
  return { number, title, body, url, author, state, labels: names, commentCount: comments };
}

function toComment({ id, user: author, created_at: at, body }: z.infer<typeof comment>): HostComment {
  return { id, author, at, body };
}

function toPull({
  number,
  html_url: url,
  state,
  merged,
  title,
  body,
}: z.infer<typeof pull>): HostPullRequest {
  return { number, url, state: merged === true ? 'merged' : state, title, body };
}
