/** The stand-in in the words of Gitea; shapes are those of the document that it serves as `/swagger.v1.json`. */
import {
  addComment,
  AT,
  chosenIssues,
  commentOf,
  pageOf,
  REPOSITORY,
  type Said,
  type StandIn,
  type StandInComment,
  type StandInIssue,
  type StandInPull,
  type Voice,
} from './stand-in-model.ts';

const ROOT = `/repos/${REPOSITORY}`;

export const giteaVoice: Voice = (host, { method, path, query, body }) => {
  if (!path.startsWith(ROOT)) return null;
  const below = path.slice(ROOT.length);
  const numbered = /^\/(issues|pulls)\/(\d+)(\/[a-z_]+)?$/.exec(below);
  const number = Number(numbered?.[2]);
  const issue = host.issues.find((one) => one.number === number);
  const pull = host.pulls.find((one) => one.number === number);
  const between = /^\/pulls\/([^/]+)\/(.+)$/.exec(below);
  if (method === 'GET' && numbered === null && between !== null) {
    const found = host.pulls.find((one) => one.base === between[1] && one.head === between[2]);
    return found === undefined ? null : { body: asPull(host, found) };
  }
  switch (
    `${method} ${numbered === null ? below.replace(/\d+$/, '#') : `/${numbered[1]}/#${numbered[3] ?? ''}`}`
  ) {
    case 'GET ':
      return { body: { default_branch: 'main' } };
    case 'GET /issues': {
      const state = query.get('state') ?? 'open';
      const chosen = chosenIssues(host, query, state === 'all' ? null : state);
      return {
        body: pageOf(
          chosen.map((one) => asIssue(host, one)),
          query,
        ),
      };
    }
    case 'GET /issues/#/comments':
      return issue === undefined ? null : { body: issue.comments.map(asComment) };
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
    case 'GET /labels':
      return {
        body: pageOf(
          host.labels.map((name, at) => ({ id: at + 1, name })),
          query,
        ),
      };
    case 'POST /issues/#/labels':
      if (pull === undefined) return null;
      pull.labels = [
        ...new Set([...pull.labels, ...(body['labels'] as number[]).map((id) => host.labels[id - 1] ?? '')]),
      ];
      return { body: [] };
    case 'POST /pulls':
      return opened(host, body);
    case 'PATCH /pulls/#':
      if (pull === undefined) return null;
      Object.assign(pull, { title: body['title'] ?? pull.title, body: body['body'] ?? pull.body });
      return { status: 201, body: asPull(host, pull) };
    case 'POST /pulls/#/requested_reviewers': {
      const asked = body['reviewers'] as string[];
      const unknown = asked.find((name) => !host.users.includes(name));
      if (pull === undefined || unknown !== undefined)
        return { status: 422, body: { message: `reviewer ${unknown ?? ''} does not exist` } };
      pull.reviewers = asked;
      return { status: 201, body: [] };
    }
    default:
      return null;
  }
};

function opened(host: StandIn, { head, base, title, body }: Readonly<Record<string, unknown>>): Said {
  const before = host.pulls.find((one) => one.state === 'open' && one.head === head && one.base === base);
  if (before !== undefined)
    return {
      status: 409,
      body: { message: `pull request already exists for these targets [id: ${before.number}]` },
    };
  const pull: StandInPull = {
    ...{
      number: host.nextNumber(),
      head: String(head),
      base: String(base),
      title: String(title),
      body: String(body),
    },
    ...{ draft: String(title).startsWith('WIP: '), state: 'open', labels: [], reviewers: [] },
  };
  host.pulls.push(pull);
  return { status: 201, body: asPull(host, pull) };
}

function asIssue(
  { origin }: StandIn,
  { number, title, body, state, labels, comments }: StandInIssue,
): object {
  return {
    ...{
      id: number,
      number,
      title,
      body: body ?? '',
      state,
      html_url: `${origin}/${REPOSITORY}/issues/${number}`,
    },
    user: { id: 1, login: 'bob' },
    labels: labels.map((name, at) => ({ id: at + 1, name })),
    comments: comments.length,
    pull_request: null,
  };
}

function asComment({ id, body }: StandInComment): object {
  return { id, body, created_at: AT, user: { id: 2, login: 'ann' } };
}

function asPull({ origin }: StandIn, { number, state, title, body, draft }: StandInPull): object {
  return {
    ...{ id: number, number, title, body, draft, html_url: `${origin}/${REPOSITORY}/pulls/${number}` },
    state: state === 'open' ? 'open' : 'closed',
    merged: state === 'merged',
  };
}
