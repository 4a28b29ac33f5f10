/**
 * Whether the repositories of a job are there, with the branches that it names and a commit to start from.
 * Owns which repository is read for what and the wording; reading is in ref-reader.ts.
 */
import type { CodeHosts, RepositoryLocation } from '../../clients/code-hosts/code-hosts.ts';
import { asParleyError } from '../../core/parley-error.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import { nearestName } from '../../dsl/check/nearest-name.ts';
import { quote } from '../../dsl/read/quote.ts';
import { failed, passed, warned, type Finding } from '../finding.ts';
import type { Probes } from './probe-all.ts';
import { branchesOf, hasStart } from './ref-list.ts';
import type { RefAnswer, RefReader } from './ref-reader.ts';

/** A list of more is one kind of mistake many times. */
const REPOSITORIES_MAX = 2_000;

interface Wanted {
  readonly location: RepositoryLocation;
  readonly tokenSecret: string | null;
  /** Branches and tags, null for where the repository points; each with the conversation that names it first. */
  readonly starts: Map<string | null, string>;
}

export interface RepositoryCheck {
  readonly plan: Plan;
  readonly codeHosts: CodeHosts;
  readonly reader: RefReader;
  readonly probes: Probes;
}

const CHECK = 'repositories';

export async function checkRepositories(check: RepositoryCheck): Promise<readonly Finding[]> {
  const { plan, codeHosts, reader, probes } = check;
  const { wanted, refused } = wantedBy(plan, codeHosts);
  const asked = [...wanted.values()].slice(0, REPOSITORIES_MAX);
  const answers = await probes.all(asked, async (one, signal) => {
    const { provider, name } = one.location;
    return { one, answer: await reader.read({ provider, name, tokenSecret: one.tokenSecret }, signal) };
  });
  const found = answers.map(({ one, answer }) => findingsOf(one, answer));
  const late = answers.filter(({ answer }) => answer.kind === 'late').map(({ one }) => one.location.name);
  const good = found.filter((findings) => findings.length === 0).length - late.length;
  return [
    ...refused,
    ...(good > 0 ? [passed(CHECK, `${good} of ${wanted.size} can be read`)] : []),
    ...(late.length > 0 ? [unanswered(late)] : []),
    ...found.flat(),
  ];
}

/** One line for all: it is one line that is slow, or one host. */
function unanswered(names: readonly string[]): Finding {
  const detail = `${names.length} did not answer in time, ${quote(names[0] ?? '')} first`;
  return warned(CHECK, detail, 'the run begins, and tries to clone them');
}

interface Reference {
  readonly key: string;
  readonly provider: string | null;
  readonly name: string;
  readonly start: string | null;
  readonly tokenSecret: string | null;
}

/** Each repository once for each credential, with every start that is wanted of it. */
function wantedBy(
  plan: Plan,
  codeHosts: CodeHosts,
): { readonly wanted: ReadonlyMap<string, Wanted>; readonly refused: readonly Finding[] } {
  const wanted = new Map<string, Wanted>();
  const refused = new Map<string, Finding>();
  for (const { key, provider, name, start, tokenSecret } of plan.items.flatMap(referencesOf)) {
    try {
      const location = codeHosts.locate({ provider, name });
      const id = JSON.stringify([location.provider, name, tokenSecret]);
      const one = wanted.get(id) ?? { location, tokenSecret, starts: new Map<string | null, string>() };
      if (!one.starts.has(start)) one.starts.set(start, key);
      wanted.set(id, one);
    } catch (error) {
      const { message } = asParleyError(error);
      refused.set(
        message,
        failed(
          CHECK,
          `${message} (conversation ${quote(key)})`,
          'correct repo, or code_hosts in parley.yaml',
        ),
      );
    }
  }
  return { wanted, refused: [...refused.values()] };
}

function referencesOf({ key, repository, plugins = [] }: PlanItem): readonly Reference[] {
  const own =
    repository === null
      ? []
      : [
          {
            key,
            provider: repository.host,
            name: repository.name,
            start: repository.ref ?? repository.branch,
            tokenSecret: repository.tokenSecret,
          },
        ];
  // Plugins are read with the credential of the deployment.
  return [
    ...own,
    ...plugins.map(({ source, ref }) => ({
      key,
      provider: null,
      name: source,
      start: ref,
      tokenSecret: null,
    })),
  ];
}

function findingsOf(one: Wanted, answer: RefAnswer): readonly Finding[] {
  const { name, provider, place } = one.location;
  const what = `${quote(name)} of "${provider}"`;
  switch (answer.kind) {
    case 'missing': {
      if (place.kind === 'directory')
        return [
          failed(
            CHECK,
            `${what} is not there: ${place.path}`,
            'make it there, or correct repo or code_hosts',
          ),
        ];
      const detail = `${what} is not there, or not for this credential: ${place.url}`;
      const remedy = `correct repo; a private one needs code_hosts.${provider}.token, or a token in the job`;
      return [failed(CHECK, detail, remedy)];
    }
    case 'late':
      return [];
    case 'failed':
      return [unreadable(what, answer.reason)];
    case 'refs':
      if (answer.refs.size === 0) {
        const [named] = [...one.starts.keys()].filter((start) => start !== null);
        return named === undefined
          ? [warned(CHECK, `${what} has no commit`, 'the agents begin with nothing')]
          : [failed(CHECK, `${what} has no commit, and so no ${quote(named)}`, 'leave out branch and ref')];
      }
      return [...one.starts].flatMap(([start, key]) => {
        if (hasStart(answer.refs, start)) return [];
        const near = start === null ? null : nearestName(start, branchesOf(answer.refs));
        if (start === null)
          return [failed(CHECK, `${what} points at a branch without a commit`, 'name one with branch')];
        const detail = `${what} has no branch or tag ${quote(start)} (conversation ${quote(key)})`;
        return [failed(CHECK, detail, near === null ? 'correct branch' : `did you mean ${quote(near)}?`)];
      });
    default:
      return answer satisfies never;
  }
}

/** What will not change by itself; anything else may be better when the conversation begins. */
const CERTAIN =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|redirects|certificate|CERT|no Git server|not found|spawn git/i;

function unreadable(what: string, reason: string): Finding {
  const detail = `${what} cannot be read: ${reason}`;
  if (CERTAIN.test(reason))
    return failed(CHECK, detail, 'correct code_hosts in parley.yaml, or let its host be reached');
  return warned(CHECK, detail, 'the run begins, and tries to clone it');
}
