/**
 * Collecting once more, after the fact: what an ended item's results lack and stored events can still give.
 * Owns which results need no sandbox, and pushes branches that could not be pushed; a diff or a file of a sandbox that is gone cannot be had again.
 */
import type { ConversationId, RunId } from '../core/ids.ts';
import { collectOf } from '../core/plan/item-rules.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { CollectStep, Plan } from '../core/plan/plan.ts';
import type { RunItemRow } from '../core/machine/projection.ts';
import { keepResult, type Collected } from './collect/collected.ts';
import { deliver, deliveryEvidence, DELIVERY_FILE } from './collect/deliver.ts';
import type { DeliveryEvidence } from './collect/delivery-evidence.ts';
import { collectTrajectory } from './collect/trajectory.ts';
import { collectUsage } from './collect/usage.ts';
import { planOf } from './plan-item.ts';
import { openSecrets, secretForms } from './redaction.ts';
import type { World } from './world.ts';

/** An ended item with a conversation to read from. */
interface EndedItem {
  readonly runId: RunId;
  readonly key: string;
  readonly conversationId: ConversationId;
}

/**
 * Never replaces a result that is there. Returns where each written file is.
 * @throws ParleyError not_found, plan_invalid, collect_failed when a file cannot be written
 */
export async function collectNow(world: World, runId: RunId): Promise<readonly string[]> {
  const run = await world.records.run(runId);
  if (run === null)
    throw new ParleyError('not_found', `Cannot collect from run "${runId}": there is no such run`);
  const plan = await planOf(world, runId, run.planHash);
  const planned = new Map(plan.items.map((item) => [item.key, item]));
  const written: string[] = [];
  for (const row of await world.records.runItems(runId)) {
    for (const item of endedItem(row)) {
      const steps = collectOf(planned.get(row.key) ?? {}, plan);
      for (const step of steps) written.push(...(await collectMissing(world, item, step)));
    }
    written.push(...(await deliverMissing(world, plan, row)));
  }
  return written.map((name) => `${world.results.location(runId)}/${name}`);
}

/** A branch that could not be pushed when its item ended: the patch is there, so the sandbox is not needed. */
async function deliverMissing(world: World, plan: Plan, row: RunItemRow): Promise<readonly string[]> {
  const { runId, key, phase, outcome, conversationId } = row;
  const item = plan.items.find((one) => one.key === key);
  if (plan.deliver === undefined || item === undefined || conversationId === null || phase !== 'ended')
    return [];
  if (plan.deliver.when === 'succeeded' && outcome !== 'succeeded') return [];
  const about = { runId, conversationId, plan, item };
  const before = await deliveryEvidence(world, about);
  // Without evidence there was nothing to push, or the item has no repository.
  if (before === null || before.state === 'nothing') return [];
  if (before.state === 'pushed' && !lacksPullRequest(plan, before)) return [];
  await deliver(world, about);
  return [`${key}/${DELIVERY_FILE}`];
}

/** The branch is there, and its pull request is not, or something of it. */
function lacksPullRequest(plan: Plan, { pullRequest }: DeliveryEvidence): boolean {
  if (plan.deliver?.pullRequest === undefined) return false;
  return pullRequest === undefined || pullRequest.problem !== null || pullRequest.notes.length > 0;
}

function endedItem({ runId, key, phase, conversationId }: RunItemRow): readonly EndedItem[] {
  return phase !== 'ended' || conversationId === null ? [] : [{ runId, key, conversationId }];
}

async function collectMissing(world: World, item: EndedItem, step: CollectStep): Promise<readonly string[]> {
  switch (step.kind) {
    case 'trajectory':
      // Of a deleted conversation nothing is stored: an empty trajectory would look like one that did nothing.
      if ((await world.records.conversation(item.conversationId)) === null) return [];
      return keepMissing(world, item, {
        name: 'trajectory.zip',
        make: () => collectTrajectory(world, item.conversationId),
      });
    case 'usage':
      return keepMissing(world, item, {
        name: 'usage.json',
        make: () => collectUsage(world, item.conversationId),
      });
    case 'diff':
    case 'files':
      return [];
  }
}

interface Missing {
  readonly name: string;
  make(): Promise<readonly Collected[]>;
}

/** Made only when the file is missing. What holds the value of a secret is left out again (D20). */
async function keepMissing(
  world: World,
  item: EndedItem,
  { name, make }: Missing,
): Promise<readonly string[]> {
  const { runId, key, conversationId } = item;
  if ((await world.results.read({ runId, key, name })) !== null) return [];
  const forms = secretForms(Object.values(await openSecrets(world, conversationId)));
  const written: string[] = [];
  for (const made of await make()) {
    if (await keepResult(world, made, { runId, key, forms })) written.push(`${key}/${made.name}`);
  }
  return written;
}
