/**
 * A branch from a patch: the base commit fetched, one commit made, and pushed under a lease.
 * Owns that the same request gives the same commit, and that no commit of another author is replaced.
 */
import { EMPTY_TREE, isCommitId } from '../../core/commit-id.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { BranchDelivery, BranchRequest, DeliveredBranch } from '../../ports/branch-delivery.ts';
import type { CodeHosts, RepositoryLocation } from './code-hosts.ts';
import { basicAuthorization } from './credential.ts';
import { resolveRepository } from './local-backend.ts';
import { withScratchGit, type GitCall, type GitEnd, type ScratchGit } from './scratch-git.ts';

interface BranchDeliveryOptions {
  readonly codeHosts: CodeHosts;
  /** Credential of the deployment by provider; null for none. */
  credentialOf(provider: string): string | null;
  /** Folder for what is needed meanwhile. */
  readonly scratchDir: string;
}

/** Pushes patches as branches with Git of this host. */
export function createBranchDelivery(options: BranchDeliveryOptions): BranchDelivery {
  return {
    async deliver(request) {
      // It came out of a sandbox, and goes to Git on the host (D31).
      if (!isCommitId(request.baseCommit)) throw refused(request, 'what it starts from is no commit');
      const location = options.codeHosts.locate(request.repository);
      const url = await urlOf(location);
      const token = request.token ?? options.credentialOf(location.provider);
      const authorization = token === null ? null : basicAuthorization(token);
      return await withScratchGit({ parentDir: options.scratchDir, authorization }, (git) =>
        deliver({ git, url, request }),
      );
    },
  };
}

interface Work {
  readonly git: ScratchGit;
  /** Without a credential. */
  readonly url: string;
  readonly request: BranchRequest;
}

async function urlOf({ place, name }: RepositoryLocation): Promise<string> {
  if (place.kind === 'remote') return place.url;
  const folder = await resolveRepository(place);
  if (folder !== null) return `file://${folder}`;
  throw new ParleyError(
    'deliver_refused',
    `Cannot push to repository "${name}": there is no such repository`,
  );
}

async function deliver(work: Work): Promise<DeliveredBranch> {
  const { request } = work;
  const tip = await tipOf(work);
  await fetchBase(work);
  const commit = await makeCommit(work);
  if (tip === commit) return { commit, pushed: false };
  if (tip !== null && !request.ours.includes(tip)) throw taken(request, tip);
  await request.announce(commit);
  return await push(work, { commit, tip });
}

/** Null when the host has no such branch. */
async function tipOf({ git, url, request }: Work): Promise<string | null> {
  const ref = `refs/heads/${request.branch}`;
  const said = await asked(git, request, { args: ['ls-remote', '--refs', '--end-of-options', url, ref] });
  const line = said.split('\n').find((one) => one.endsWith(`\t${ref}`));
  return line?.split('\t')[0] ?? null;
}

/** The commit alone, where the host gives single commits; else everything that its branches hold. */
async function fetchBase({ git, url, request }: Work): Promise<void> {
  if (request.baseCommit === EMPTY_TREE) return;
  const quiet = ['fetch', '--quiet', '--no-tags'];
  const alone = await git.call({
    args: [...quiet, '--depth=1', '--end-of-options', url, request.baseCommit],
  });
  if (alone.code === 0) return;
  await asked(git, request, { args: [...quiet, '--end-of-options', url, '+refs/heads/*:refs/fetched/*'] });
  const has = await git.call({
    args: ['cat-file', '-e', '--end-of-options', `${request.baseCommit}^{commit}`],
  });
  if (has.code !== 0)
    throw refused(request, `the repository no longer has the commit ${request.baseCommit} it starts from`);
}

async function makeCommit({ git, request }: Work): Promise<string> {
  const { baseCommit, patch, message, author, at } = request;
  const isFirst = baseCommit === EMPTY_TREE;
  const start = isFirst ? ['--empty'] : ['--end-of-options', baseCommit];
  await made(git, request, { args: ['read-tree', ...start] });
  await made(git, request, { args: ['apply', '--cached', '--whitespace=nowarn', '-'], input: patch });
  const tree = await made(git, request, { args: ['write-tree'] });
  const date = `${Math.floor(at / 1_000)} +0000`;
  const env = Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((who) => [
      [`GIT_${who}_NAME`, author.name],
      [`GIT_${who}_EMAIL`, author.email],
      [`GIT_${who}_DATE`, date],
    ]),
  ) as Record<string, string>;
  const args = ['commit-tree', ...(isFirst ? [] : ['-p', baseCommit]), '--end-of-options', tree];
  return await made(git, request, { args, input: Buffer.from(`${message}\n`), env });
}

/** The lease says what the branch holds now: another push in the meantime wins. */
async function push(
  work: Work,
  { commit, tip }: { readonly commit: string; readonly tip: string | null },
): Promise<DeliveredBranch> {
  const { git, url, request } = work;
  const ref = `refs/heads/${request.branch}`;
  const whither = ['--end-of-options', url, `${commit}:${ref}`];
  const args = ['push', '--quiet', `--force-with-lease=${ref}:${tip ?? ''}`, ...whither];
  const end = await git.call({ args });
  if (end.code === 0) return { commit, pushed: true };
  const now = await tipOf(work).catch(() => null);
  // The connection broke after the host had taken it.
  if (now === commit) return { commit, pushed: true };
  if (now !== null && now !== tip) throw taken(request, now);
  throw failed(request, end);
}

function taken(request: BranchRequest, tip: string): ParleyError {
  return refused(request, `it holds the commit ${tip.slice(0, 12)} that this run has not made`);
}

function refused({ branch, repository }: BranchRequest, why: string): ParleyError {
  return new ParleyError(
    'deliver_refused',
    `Cannot push branch "${branch}" to repository "${repository.name}": ${why}`,
  );
}

/** What the host answers to one that it does not let in, or lets only read. */
const FORBIDDEN =
  /Authentication failed|could not read (Username|Password)|returned error: 40[134]|not found|\[remote rejected\]|\[rejected\]|denied|does not appear to be a git repository/i;

function failed(request: BranchRequest, { code, stderr }: GitEnd): ParleyError {
  if (FORBIDDEN.test(stderr)) return refused(request, stderr);
  return new ParleyError(
    'deliver_failed',
    `Cannot push branch "${request.branch}" to repository "${request.repository.name}": git ended with ${code ?? 'a signal'}: ${stderr}`,
  );
}

/** A call to the host. @throws ParleyError */
async function asked(git: ScratchGit, request: BranchRequest, call: GitCall): Promise<string> {
  const end = await git.call(call);
  if (end.code === 0) return end.stdout.trim();
  throw failed(request, end);
}

/** A local call: what fails once fails always. @throws ParleyError */
async function made(git: ScratchGit, request: BranchRequest, call: GitCall): Promise<string> {
  const end = await git.call(call);
  if (end.code === 0) return end.stdout.trim();
  throw refused(request, `git ${call.args[0] ?? ''} ended with ${end.code ?? 'a signal'}: ${end.stderr}`);
}
