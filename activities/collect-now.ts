/**
 * Collecting once more, after the fact: what an ended item's results lack and stored events can still give.
 * Owns which results need no sandbox; a diff or a file of a sandbox that is gone cannot be had again.
 */
import type { ConversationId, RunId } from '../core/ids.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { CollectStep } from '../core/plan.ts';
import type { RunItemRow } from '../core/projection.ts';
import type { Collected } from './collect/collected.ts';
import { collectTrajectory } from './collect/trajectory.ts';
import { collectUsage } from './collect/usage.ts';
import { planOf } from './plan-item.ts';
import { containsSecret, openSecrets, secretForms } from './redaction.ts';
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
  if ((await world.records.run(runId)) === null) {
    throw new ParleyError('not_found', `Cannot collect from run "${runId}": there is no such run`);
  }
  const { collect } = await planOf(world, runId);
  const written: string[] = [];
  for (const item of (await world.records.runItems(runId)).flatMap(endedItem)) {
    for (const step of collect) written.push(...(await collectMissing(world, item, step)));
  }
  return written.map((name) => `${world.results.location(runId)}/${name}`);
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
    if (containsSecret(made.scanned ?? made.content, forms)) continue;
    await world.results.write({ runId, key, name: made.name }, made.content);
    written.push(`${key}/${made.name}`);
  }
  return written;
}
