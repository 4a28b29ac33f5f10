/** The stand-in in the words of GitHub; shapes are those of its OpenAPI document, as far as the types below reach. */
import type { Octokit } from '@octokit/core';
import {
  addComment,
  AT,
  chosenIssues,
  commentOf,
  OWNER,
  pageOf,
  REPOSITORY,
  type Said,
  type StandIn,
  type StandInComment,
  type StandInIssue,
  type StandInPull,
  type Voice,
} from './stand-in-model.ts';

declare const _ask: Octokit['request'];
type AnswerOf<Route extends string> = Awaited<ReturnType<typeof _ask<Route>>>['data'];
type Issue = Pick<
  AnswerOf<'GET /repos/{owner}/{repo}/issues'>[number],
  'number' | 'title' | 'body' | 'html_url' | 'state' | 'comments'
> & {
  readonly labels: readonly { readonly name: string }[];
  readonly user: { readonly login: string };
  readonly pull_request?: { readonly url: string };
};
type Comment = Pick<
  AnswerOf<'GET /repos/{owner}/{repo}/issues/{issue_number}/comments'>[number],
  'id' | 'body' | 'created_at'
> & { readonly user: { readonly login: string } };
type Pull = Pick<
  AnswerOf<'GET /repos/{owner}/{repo}/pulls/{pull_number}'>,
  'number' | 'html_url' | 'state' | 'merged_at' | 'title' | 'body' | 'draft'
>;

const ROOT = `/repos/${REPOSITORY}`;

export const githubVoice: Voice = (host, { method, path, query, body }) => {
  if (!path.startsWith(ROOT)) return null;
  const below = path.slice(ROOT.length);
  const numbered = /^\/(issues|pulls)\/(\d+)(\/[a-z_]+)?$/.exec(below);
  const number = Number(numbered?.[2]);
  const issue = host.issues.find((one) => one.number === number);
  const pull = host.pulls.find((one) => one.number === number);
  switch (
    `${method} ${numbered === null ? below.replace(/\d+$/, '#') : `/${numbered[1]}/#${numbered[3] ?? ''}`}`
  ) {
    case 'GET ':
      return { body: { default_branch: 'main' } };
    case 'GET /issues': {
      const state = query.get('state') ?? 'open';
      const listed = [
        // A pull request is an issue, too.
        ...(query.has('labels')
          ? []
          : host.pulls.map((one): Issue => ({ ...asIssue(host, one), pull_request: { url: '' } }))),
        ...chosenIssues(host, query, state === 'all' ? null : state).map((one) => asIssue(host, one)),
      ];
      return { body: pageOf(listed, query) };
    }
    case 'GET /issues/#/comments':
      return issue === undefined ? null : { body: pageOf(issue.comments.map(asComment), query) };
    case 'POST /issues/#/comments': {
      const made = addComment(host, issue, body['body']);
      return made === null ? null : { status: 201, body: asComment(made) };
    }
    case 'PATCH /issues/comments/#': {
      const comment = commentOf(host, Number(/\d+$/.exec(below)?.[0]));
      if (comment === undefined) return null;
      comment.body = String(body['body']);
      return { body: asComment(comment) };
    }
    case 'POST /issues/#/labels':
      if (pull === undefined) return null;
      pull.labels = [...new Set([...pull.labels, ...(body['labels'] as string[])])];
      return { body: pull.labels.map((name) => ({ name })) };
    case 'GET /pulls': {
      const [owner, head] = (query.get('head') ?? '').split(':');
      const own = host.pulls.filter(
        (one) => owner === OWNER && one.head === head && one.base === query.get('base'),
      );
      return { body: own.map((one) => asPull(host, one)) };
    }
    case 'POST /pulls':
      return opened(host, body);
    case 'PATCH /pulls/#':
      if (pull === undefined) return null;
      Object.assign(pull, { title: body['title'] ?? pull.title, body: body['body'] ?? pull.body });
      return { body: asPull(host, pull) };
    case 'POST /pulls/#/requested_reviewers': {
      const asked = body['reviewers'] as string[];
      const unknown = asked.find((name) => !host.users.includes(name));
      if (pull === undefined || unknown !== undefined)
        return { status: 422, body: { message: 'Reviews may only be requested from collaborators.' } };
      pull.reviewers = asked;
      return { status: 201, body: asPull(host, pull) };
    }
    default:
      return null;
  }
};

function opened(host: StandIn, { head, base, title, body, draft }: Readonly<Record<string, unknown>>): Said {
  if (host.pulls.some((one) => one.state === 'open' && one.head === head && one.base === base))
    return {
      status: 422,
      body: {
        message: 'Validation Failed',
        errors: [
          {
            resource: 'PullRequest',
            code: 'custom',
            message: `A pull request already exists for ${OWNER}:${String(head)}.`,
          },
        ],
      },
    };
  const pull: StandInPull = {
    ...{
      number: host.nextNumber(),
      head: String(head),
      base: String(base),
      title: String(title),
      body: String(body),
    },
    ...{ draft: draft === true, state: 'open', labels: [], reviewers: [] },
  };
  host.pulls.push(pull);
  return { status: 201, body: asPull(host, pull) };
}

function asIssue(
  { origin }: StandIn,
  { number, title, body, state, labels, ...one }: StandInIssue | StandInPull,
): Issue {
  return {
    ...{ number, title, body, html_url: `${origin}/${REPOSITORY}/issues/${number}` },
    user: { login: 'bob' },
    state: state === 'open' ? 'open' : 'closed',
    labels: labels.map((name) => ({ name })),
    comments: 'comments' in one ? one.comments.length : 0,
  };
}

function asComment({ id, body }: StandInComment): Comment {
  return { id, body, created_at: AT, user: { login: 'ann' } };
}

function asPull({ origin }: StandIn, { number, state, title, body, draft }: StandInPull): Pull {
  return {
    ...{ number, html_url: `${origin}/${REPOSITORY}/pull/${number}`, title, body, draft },
    state: state === 'open' ? 'open' : 'closed',
    merged_at: state === 'merged' ? AT : null,
  };
}
