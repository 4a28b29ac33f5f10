/**
 * The words of GitLab; a pull request is a merge request there.
 * Owns its routes and what of its answers is read.
 */
import { z } from 'zod';
import { PAGE_ITEMS } from './api-limits.ts';
import { anyText, wholeNumber, type HostComment, type HostPullRequest } from './host-client.ts';
import type { HostRepository, HostWords, ListedIssue } from './host-client.ts';

const author = z
  .object({ username: z.string() })
  .nullish()
  .transform((one) => one?.username ?? '');
const issue = z
  .object({
    iid: wholeNumber,
    title: z.string(),
    description: anyText,
    web_url: z.string(),
    author,
    state: z.enum(['opened', 'closed']),
    labels: z.array(z.string()),
    user_notes_count: z.int().min(0).default(0),
  })
  .transform(
    ({ iid, description, web_url: url, state, user_notes_count: commentCount, ...one }): ListedIssue => ({
      ...{ ...one, number: iid, body: description, url, commentCount },
      state: state === 'opened' ? 'open' : 'closed',
    }),
  );
/** What GitLab itself writes beside the comments, it marks. */
const note = z
  .object({
    id: wholeNumber,
    author,
    created_at: z.string(),
    body: anyText,
    system: z.boolean().default(false),
  })
  .transform(({ created_at: at, system, ...one }): HostComment | null => (system ? null : { ...one, at }));
const mergeRequest = z
  .object({
    iid: wholeNumber,
    web_url: z.string(),
    state: z.enum(['opened', 'closed', 'locked', 'merged']),
    title: z.string(),
    description: anyText,
  })
  .transform(({ iid: number, web_url: url, state, title, description: body }): HostPullRequest => {
    const isEnded = state === 'merged' || state === 'closed';
    return { number, url, title, body, state: isEnded ? state : 'open' };
  });
const users = z.array(z.object({ id: wholeNumber, username: z.string() }));

const STATES = { open: 'opened', closed: 'closed', all: undefined } as const;

export function gitlabWords({ name }: HostRepository): HostWords {
  const at = `/projects/${encodeURIComponent(name)}`;
  const pullsPath = `${at}/merge_requests`;
  return {
    ...{ at, issue, comment: note, pull: mergeRequest, pullsPath, endsEmpty: false, checksLabels: false },
    draftPrefix: 'Draft: ',
    credential: (token) => ({ 'private-token': token }),
    pageQuery: (page) => ({ per_page: PAGE_ITEMS, page }),
    issueQuery: (state) => ({ state: STATES[state], order_by: 'created_at', sort: 'desc' }),
    commentsPath: (iid) => `${at}/issues/${iid}/notes`,
    commentQuery: { order_by: 'created_at', sort: 'asc' },
    changeCommentRoute: (iid, id) => `PUT ${at}/issues/${iid}/notes/${id}`,
    changePullRoute: (iid) => `PUT ${pullsPath}/${iid}`,
    draftBody: ({ head, base, title, body }) => ({
      ...{ source_branch: head, target_branch: base, title, description: body },
    }),
    textBody: ({ title, body }) => ({ title, description: body }),
    pullRequests: (ask, { head, base }) => {
      const query = { source_branch: head, target_branch: base, per_page: PAGE_ITEMS };
      return ask(`GET ${pullsPath}`, z.array(mergeRequest), { query });
    },
    async addLabels(ask, iid, labels) {
      await ask(`PUT ${pullsPath}/${iid}`, z.unknown(), { body: { add_labels: labels.join(',') } });
      return [];
    },
    async askReviewers(ask, iid, reviewers) {
      const ids = new Map<string, number>();
      for (const username of reviewers) {
        const found = await ask('GET /users', users, { query: { username, per_page: PAGE_ITEMS } });
        const one = found.find((user) => user.username === username);
        if (one !== undefined) ids.set(username, one.id);
      }
      if (ids.size > 0)
        await ask(`PUT ${pullsPath}/${iid}`, z.unknown(), { body: { reviewer_ids: [...ids.values()] } });
      return reviewers.filter((name) => !ids.has(name)).map((username) => `there is no user "${username}"`);
    },
  };
}
