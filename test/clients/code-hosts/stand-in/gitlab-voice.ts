/** The stand-in in the words of GitLab, as its OpenAPI document and the types of its client have them. */
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

const ROOT = `/projects/${REPOSITORY}`;
const STATES: Readonly<Record<string, string>> = { opened: 'open', closed: 'closed' };

export const gitlabVoice: Voice = (host, { method, path, query, body }) => {
  if (method === 'GET' && path === '/users') {
    const at = host.users.indexOf(query.get('username') ?? '');
    return { body: at === -1 ? [] : [{ id: at + 1, username: host.users[at] }] };
  }
  if (!path.startsWith(ROOT)) return null;
  const below = path.slice(ROOT.length);
  const numbered = /^\/(issues|merge_requests)\/(\d+)(\/notes)?(?:\/(\d+))?$/.exec(below);
  const number = Number(numbered?.[2]);
  const issue = host.issues.find((one) => one.number === number);
  const pull = host.pulls.find((one) => one.number === number);
  switch (`${method} ${numbered === null ? below : `/${numbered[1]}/#${numbered[3] ?? ''}`}`) {
    case 'GET ':
      return { body: { default_branch: 'main' } };
    case 'GET /issues': {
      const chosen = chosenIssues(host, query, STATES[query.get('state') ?? ''] ?? null);
      return {
        body: pageOf(
          chosen.map((one) => asIssue(host, one)),
          query,
        ),
      };
    }
    case 'GET /issues/#/notes':
      return issue === undefined ? null : { body: pageOf(issue.comments.map(asNote), query) };
    case 'POST /issues/#/notes': {
      const made = addComment(host, issue, body['body']);
      return made === null ? null : { status: 201, body: asNote(made) };
    }
    case 'PUT /issues/#/notes': {
      const comment = commentOf(host, Number(numbered?.[4]));
      if (comment === undefined) return null;
      comment.body = String(body['body']);
      return { body: asNote(comment) };
    }
    case 'GET /merge_requests': {
      const [head, base] = [query.get('source_branch'), query.get('target_branch')];
      const own = host.pulls.filter((one) => one.head === head && one.base === base);
      return { body: own.map((one) => asMergeRequest(host, one)) };
    }
    case 'POST /merge_requests':
      return opened(host, body);
    case 'PUT /merge_requests/#': {
      if (pull === undefined) return null;
      const { title, description, add_labels: labels, reviewer_ids: ids } = body;
      Object.assign(pull, { title: title ?? pull.title, body: description ?? pull.body });
      if (typeof labels === 'string') pull.labels = [...new Set([...pull.labels, ...labels.split(',')])];
      if (Array.isArray(ids)) pull.reviewers = (ids as number[]).map((id) => host.users[id - 1] ?? '');
      return { body: asMergeRequest(host, pull) };
    }
    default:
      return null;
  }
};

function opened(
  host: StandIn,
  { source_branch: head, target_branch: base, title, description }: Readonly<Record<string, unknown>>,
): Said {
  const before = host.pulls.find((one) => one.state === 'open' && one.head === head && one.base === base);
  if (before !== undefined)
    return {
      status: 409,
      body: {
        message: [`Another open merge request already exists for this source branch: !${before.number}`],
      },
    };
  const pull: StandInPull = {
    ...{
      number: host.nextNumber(),
      head: String(head),
      base: String(base),
      title: String(title),
      body: String(description),
    },
    ...{ draft: String(title).startsWith('Draft: '), state: 'open', labels: [], reviewers: [] },
  };
  host.pulls.push(pull);
  return { status: 201, body: asMergeRequest(host, pull) };
}

function asIssue(
  { origin }: StandIn,
  { number, title, body, state, labels, comments }: StandInIssue,
): object {
  return {
    ...{ id: 1_000 + number, iid: number, title, description: body, labels },
    state: state === 'open' ? 'opened' : 'closed',
    author: { id: 1, username: 'bob' },
    web_url: `${origin}/${REPOSITORY}/-/issues/${number}`,
    user_notes_count: comments.length,
  };
}

function asNote({ id, body }: StandInComment): object {
  return { id, body, created_at: AT, system: false, author: { id: 2, username: 'ann' } };
}

function asMergeRequest({ origin }: StandIn, { number, state, title, body, draft }: StandInPull): object {
  return {
    ...{ id: 1_000 + number, iid: number, title, description: body, draft },
    state: state === 'open' ? 'opened' : state,
    web_url: `${origin}/${REPOSITORY}/-/merge_requests/${number}`,
  };
}
