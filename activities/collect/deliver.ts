/**
 * Delivering: a branch with the collected patch of an item, pushed to its repository, and a pull request for it.
 * Owns which items push and the evidence of it, `delivery.json` beside the results; a failure is kept there and loses
 * nothing that was collected.
 */
import { fillDeliverText, isBranchName } from '../../core/plan/deliver-name.ts';
import { asParleyError, ParleyError } from '../../core/parley-error.ts';
import { launchFacts } from '../launch-facts.ts';
import { hiddenForms, openSecrets, redactText, repositoryScope } from '../redaction.ts';
import { parseKept } from '../kept-file.ts';
import type { World } from '../world.ts';
import type { DeliverableItem } from './deliverable-item.ts';
import { DELIVERY_FORMAT, deliverySchema, type DeliveryEvidence } from './delivery-evidence.ts';
import { openPullRequest } from './pull-request.ts';

export const DELIVERY_FILE = 'delivery.json';

/** Null when nothing has been delivered, or the evidence cannot be read. */
export async function deliveryEvidence(
  world: Pick<World, 'results'>,
  { runId, item: { key } }: Pick<DeliverableItem, 'runId' | 'item'>,
): Promise<DeliveryEvidence | null> {
  const bytes = await world.results.read({ runId, key, name: DELIVERY_FILE });
  return parseKept(deliverySchema, bytes);
}

/**
 * Pushes the patch that was collected last. Null when the plan pushes nothing for this item.
 * A repeat finds its commit on the branch and pushes nothing. Does not throw for what keeps a branch from being pushed:
 * that is the evidence.
 */
export async function deliver(world: World, about: DeliverableItem): Promise<DeliveryEvidence | null> {
  const { plan, item, runId } = about;
  if (plan.deliver === undefined || item.repository === null) return null;
  const words = { job: plan.name, run: runId, key: item.key };
  const branch = fillDeliverText(plan.deliver.branch, words);
  const before = await deliveryEvidence(world, about);
  const evidence: DeliveryEvidence = {
    format: DELIVERY_FORMAT,
    state: 'nothing',
    repository: item.repository.name,
    branch,
    commits: before?.branch === branch ? before.commits : [],
    problem: null,
    // A pull request that was opened before exists until the host reports otherwise.
    ...(before?.branch === branch && before.pullRequest !== undefined
      ? { pullRequest: before.pullRequest }
      : {}),
    at: world.clock.now(),
  };
  const branched = await pushed(world, about, evidence).catch((error: unknown) =>
    problemOf(world, about, { evidence, error }),
  );
  await keep(world, about, branched);
  const done = await withPullRequest(world, about, branched);
  if (!saysTheSame(before, done)) await record(world, about, done);
  return done;
}

/** Only for a branch that was pushed, in this try or an earlier one. */
async function withPullRequest(
  world: World,
  about: DeliverableItem,
  evidence: DeliveryEvidence,
): Promise<DeliveryEvidence> {
  const wanted = about.plan.deliver?.pullRequest;
  if (wanted === undefined || evidence.state !== 'pushed') return evidence;
  const before = evidence.pullRequest ?? null;
  const pullRequest = await openPullRequest(world, about, { branch: evidence.branch, wanted, before });
  const done = { ...evidence, pullRequest };
  await keep(world, about, done);
  return done;
}

/** The failure that keeps a delivery from being whole; null when nothing is missing. */
export function problemOfDelivery({
  problem,
  pullRequest,
}: Pick<DeliveryEvidence, 'problem' | 'pullRequest'>): {
  readonly code: string;
  readonly message: string;
} | null {
  return problem ?? pullRequest?.problem ?? null;
}

/** A repeat that changed nothing is not recorded again. */
function saysTheSame(before: DeliveryEvidence | null, after: DeliveryEvidence): boolean {
  return (
    before?.state === after.state &&
    before.commits.at(-1) === after.commits.at(-1) &&
    before.problem?.message === after.problem?.message
  );
}

async function pushed(
  world: World,
  about: DeliverableItem,
  evidence: DeliveryEvidence,
): Promise<DeliveryEvidence> {
  const { plan, item, runId, conversationId } = about;
  const { repository } = item;
  if (repository === null || plan.deliver === undefined) return evidence;
  const file = (name: string) => world.results.read({ runId, key: item.key, name });
  const [patch, base] = await Promise.all([file('changes.patch'), file('base-commit.txt')]);
  if (patch === null || base === null)
    throw new ParleyError('deliver_refused', 'Cannot push a branch: no patch was collected');
  if (patch.length === 0) return evidence;
  if (!isBranchName(evidence.branch))
    throw new ParleyError(
      'deliver_refused',
      `Cannot push branch "${evidence.branch}": Git takes no such name`,
    );
  const conversation = await world.records.conversation(conversationId);
  const own = repository.author ?? (await launchFacts(world.vault, conversationId)).gitAuthor;
  let commits = evidence.commits;
  const { commit } = await world.branches.deliver({
    repository: { provider: repository.host, name: repository.name },
    token: await world.vault.get(repositoryScope(conversationId), 'token'),
    baseCommit: new TextDecoder().decode(base).trim(),
    patch,
    branch: evidence.branch,
    message: fillDeliverText(plan.deliver.message, { job: plan.name, run: runId, key: item.key }),
    author: own ?? world.deployment.gitAuthor,
    at: conversation?.createdAt ?? 0,
    ours: commits,
    announce: async (announced) => {
      commits = [...commits.filter((one) => one !== announced), announced];
      await keep(world, about, { ...evidence, state: 'pushing', commits });
    },
  });
  const earlier = commits.filter((one) => one !== commit);
  return { ...evidence, state: 'pushed', commits: [...earlier, commit] };
}

/** Messages of Git and of code hosts may repeat their input: secret values are removed (D20). */
async function problemOf(
  world: World,
  about: DeliverableItem,
  { evidence, error }: { readonly evidence: DeliveryEvidence; readonly error: unknown },
): Promise<DeliveryEvidence> {
  const { code, message } = asParleyError(error);
  const token = await world.vault.get(repositoryScope(about.conversationId), 'token');
  const secrets = Object.values(await openSecrets(world, about.conversationId));
  const forms = hiddenForms(token === null ? secrets : [...secrets, token]);
  const known = await deliveryEvidence(world, about);
  return {
    ...evidence,
    state: 'failed',
    // A commit that was about to be pushed may have reached the host.
    commits: known?.branch === evidence.branch ? known.commits : evidence.commits,
    problem: { code, message: redactText(message, forms) },
  };
}

async function keep(
  world: World,
  { runId, item }: DeliverableItem,
  evidence: DeliveryEvidence,
): Promise<void> {
  const text = `${JSON.stringify(evidence, null, 2)}\n`;
  await world.results.write({ runId, key: item.key, name: DELIVERY_FILE }, new TextEncoder().encode(text));
}

/** For users who follow the conversation: which branch and pull request hold its work, or why none does. */
async function record(
  world: World,
  { conversationId }: DeliverableItem,
  { state, repository, branch, commits, problem, pullRequest, at }: DeliveryEvidence,
): Promise<void> {
  if (state === 'nothing') return;
  const about = { machine: 'conversation', id: conversationId } as const;
  const failure = problemOfDelivery({ problem, pullRequest });
  const opened = pullRequest?.url == null ? '' : `, pull request ${pullRequest.url}`;
  const detail =
    failure === null
      ? `branch "${branch}" of "${repository}" is at ${commits.at(-1) ?? ''}${opened}`
      : `${failure.code}: ${failure.message}`;
  const code = failure === null ? 'branch_delivered' : 'delivery_failed';
  await world.lifecycle.record({ about, conversationId, code, detail }, at);
}
