/**
 * The words of GitHub, and of GitHub Enterprise.
 * Owns its routes and what of its answers is read; Gitea took after it, and says what differs.
 */
import { z } from 'zod';
import { PAGE_ITEMS } from './api-limits.ts';
import { anyText, wholeNumber, type HostComment, type HostPullRequest } from './host-client.ts';
import type { HostRepository, HostWords, ListedIssue } from './host-client.ts';

/** Empty for a user that is gone. */
const login = z
  .object({ login: z.string() })
  .nullish()
  .transform((one) => one?.login ?? '');
const label = z.union([z.string(), z.object({ name: anyText }).transform(({ name }) => name)]);
const issue = z
  .object({
    number: wholeNumber,
    title: z.string(),
    body: anyText,
    html_url: z.string(),
    user: login,
    state: z.enum(['open', 'closed']),
    labels: z.array(label).nullish(),
    comments: z.int().min(0).default(0),
    pull_request: z.unknown().optional(),
  })
  .transform(({ html_url: url, user: author, comments, pull_request: pull, labels, ...one }) =>
    // Pull requests are listed among the issues.
    pull == null
      ? ({ ...one, url, author, labels: labels ?? [], commentCount: comments } satisfies ListedIssue)
      : null,
  );
const comment = z
  .object({ id: wholeNumber, user: login, created_at: z.string(), body: anyText })
  .transform(({ id, user: author, created_at: at, body }): HostComment => ({ id, author, at, body }));
const pull = z
  .object({
    number: wholeNumber,
    html_url: z.string(),
    state: z.enum(['open', 'closed']),
    title: z.string(),
    body: anyText,
    merged_at: z.string().nullish(),
    merged: z.boolean().nullish(),
  })
  .transform(({ html_url: url, merged_at: mergedAt, merged, state, ...one }): HostPullRequest => {
    const isMerged = merged ?? mergedAt != null;
    return { ...one, url, state: isMerged ? 'merged' : state };
  });

export function githubWords({ owner, repo }: HostRepository): HostWords {
  const at = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`;
  return {
    ...{ at, issue, comment, pull, endsEmpty: false, checksLabels: false, draftPrefix: null },
    credential: (token) => ({ authorization: `token ${token}` }),
    pageQuery: (page) => ({ per_page: PAGE_ITEMS, page }),
    issueQuery: (state) => ({ state, sort: 'created', direction: 'desc' }),
    commentsPath: (number) => `${at}/issues/${number}/comments`,
    commentQuery: {},
    changeCommentRoute: (_issue, id) => `PATCH ${at}/issues/comments/${id}`,
    pullsPath: `${at}/pulls`,
    changePullRoute: (number) => `PATCH ${at}/pulls/${number}`,
    draftBody: ({ isDraft, ...draft }) => ({ ...draft, draft: isDraft }),
    textBody: (text) => text,
    pullRequests: (ask, { head, base }) => {
      const query = { head: `${owner}:${head}`, base, state: 'all', per_page: PAGE_ITEMS };
      return ask(`GET ${at}/pulls`, z.array(pull), { query });
    },
    async addLabels(ask, number, labels) {
      await ask(`POST ${at}/issues/${number}/labels`, z.unknown(), { body: { labels } });
      return [];
    },
    async askReviewers(ask, number, reviewers) {
      await ask(`POST ${at}/pulls/${number}/requested_reviewers`, z.unknown(), { body: { reviewers } });
      return [];
    },
  };
}
