/**
 * The pull request of an item whose branch was pushed.
 * Owns its text, whose credential is used, and that it holds no secret (D20); how it is opened, or brought up to
 * date, is the code host's business.
 */
import { formatMicro, toMicro } from '../../core/money/money.ts';
import { asParleyError } from '../../core/parley-error.ts';
import type { PlanPullRequest } from '../../core/plan/plan-deliver.ts';
import { pullRequestText, type PullRequestFacts } from '../../core/plan/pull-request-text.ts';
import { hasPassed } from '../check-log.ts';
import { hiddenForms, openSecrets, redactText, repositoryScope } from '../redaction.ts';
import { secretOfRun } from '../run-secrets.ts';
import { spendRows } from '../spend.ts';
import type { World } from '../world.ts';
import type { DeliverableItem } from './deliverable-item.ts';
import type { PullRequestEvidence } from './delivery-evidence.ts';
import { lastWords } from './last-words.ts';

/** Never throws when it cannot be opened: the evidence holds the failure. `before` is the earlier evidence. */
export async function openPullRequest(
  world: World,
  about: DeliverableItem,
  {
    branch,
    wanted,
    before,
  }: {
    readonly branch: string;
    readonly wanted: PlanPullRequest;
    readonly before: PullRequestEvidence | null;
  },
): Promise<PullRequestEvidence> {
  const values = [...Object.values(await openSecrets(world, about.conversationId))];
  try {
    const token = await tokenOf(world, about, wanted);
    if (token !== null) values.push(token);
    const forms = hiddenForms(values);
    const text = pullRequestText(wanted, await factsOf(world, about), (words) => redactText(words, forms));
    const { item } = about;
    const { repository } = item;
    const answer = await world.codeHostApi.pullRequest({
      repository: { provider: repository?.host ?? null, name: repository?.name ?? '' },
      token,
      head: branch,
      base: wanted.base ?? repository?.branch ?? null,
      title: text.title,
      body: text.body,
      marker: text.marker,
      isDraft: wanted.isDraft,
      labels: wanted.labels,
      reviewers: wanted.reviewers,
      comment:
        text.comment === null || item.issue === undefined
          ? null
          : { issue: item.issue.number, text: text.comment },
      onWait: (words) => void recordWait(world, about, words),
    });
    const notes = answer.notes.map((note) => redactText(note, forms));
    return { state: answer.state, number: answer.number, url: answer.url, notes, problem: null };
  } catch (error) {
    const { code, message, remedy } = asParleyError(error);
    const forms = hiddenForms(values);
    return {
      ...{ state: 'failed', number: before?.number ?? null, url: before?.url ?? null, notes: [] },
      problem: { code, message: redactText(message, forms), remedy },
    };
  }
}

/** Shows users who follow the conversation why its result is not there yet. */
async function recordWait(world: World, { conversationId }: DeliverableItem, detail: string): Promise<void> {
  const about = { machine: 'conversation', id: conversationId } as const;
  const event = { about, conversationId, code: 'delivery_waits', detail };
  // A wait that cannot be recorded must not delay the result.
  await world.lifecycle.record(event, world.clock.now()).catch(() => undefined);
}

/** Never in a sandbox: a secret of the run that no conversation names, or the credential that pushes. */
async function tokenOf(
  world: World,
  { runId, plan, conversationId }: DeliverableItem,
  { tokenSecret }: PlanPullRequest,
): Promise<string | null> {
  if (tokenSecret !== null) return await secretOfRun(world, { runId, plan }, tokenSecret);
  return await world.vault.get(repositoryScope(conversationId), 'token');
}

async function factsOf(
  world: World,
  { runId, plan, item, conversationId }: DeliverableItem,
): Promise<PullRequestFacts> {
  const { key, verify, issue = null, model, repository } = item;
  const costs = (await spendRows(world, conversationId)).flatMap(({ cost }) => cost ?? []);
  const check =
    verify === null ? null : { command: verify.command, hasPassed: await hasPassed(world, { runId, key }) };
  const isOwnIssue =
    issue !== null &&
    issue.repository === repository?.name &&
    world.codeHostApi.providerOf(issue.host) === world.codeHostApi.providerOf(repository.host);
  return {
    ...{ job: plan.name, run: runId, key, issue, isOwnIssue, check, model },
    summary: await lastWords(world, conversationId),
    // An unknown amount is not 0 (D26).
    usd:
      costs.length === 0 ? null : formatMicro(toMicro(costs.reduce((sum, cost) => sum + cost, 0)).microUsd),
  };
}
