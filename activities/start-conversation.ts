/**
 * startConversation: turns one item of a plan into a start request.
 * Owns the sealing of its secrets; values go into the vault and nowhere else (D20).
 */
import type { CommandOf } from '../core/machine/command.ts';
import type { ConversationSpec } from '../core/conversation/state.ts';
import {
  addressOfCommand,
  sandboxId,
  userId,
  type ConversationId,
  type RunId,
  type UserId,
} from '../core/ids.ts';
import { hostPin } from '../core/placement/choose-host.ts';
import { POOL_STRATEGY_DEFAULT, poolPlacement } from '../core/placement/pool-placement.ts';
import { readObservability, type Observability } from '../core/observability.ts';
import { ParleyError } from '../core/parley-error.ts';
import { waitOf } from '../core/plan/item-rules.ts';
import type { Plan, PlanItem } from '../core/plan/plan.ts';
import type { Handler } from './activity.ts';
import { putLaunchFacts, type LaunchRepository, type LaunchSetup } from './launch-facts.ts';
import { repositoryScope, secretForms, secretScope } from './redaction.ts';
import { planItem } from './plan-item.ts';
import { secretOfRun } from './run-secrets.ts';
import { isPermittedName } from './secret-rules.ts';
import type { World } from './world.ts';

/** Owner of conversations on a deployment without users of its own. */
export const LOCAL_USER = userId('local');

type Start = CommandOf<'startConversation'>;

export const startConversation = (world: World): Handler<'startConversation'> => ({
  run: async (command) => {
    const { plan, item } = await planItem(world, command);
    const observability = observabilityOf(item);
    const conversationId = world.keys.conversationIdOf(command);
    await sealSecrets(world, { plan, item, runId: command.runId }, conversationId);
    const gitAuthor = item.repository?.author ?? null;
    const plugins = (item.plugins ?? []).map((plugin) => ({ ...plugin, host: null }));
    const setup = item.setup === undefined ? null : setupOf(item.setup);
    const repository = repositoryFacts(item);
    const agent = item.agent ?? null;
    const isPlain = [gitAuthor, setup, repository, agent].every((fact) => fact === null);
    if (!isPlain || plugins.length > 0)
      await putLaunchFacts(world.vault, conversationId, {
        ...{ extraHeaders: {}, gitAuthor, plugins, setup, repository, agent },
      });
    await world.notifier.deliver({
      to: { machine: 'conversation', id: conversationId },
      event: {
        type: 'started',
        spec: specOf(world, plan, command, {
          ...{ item, conversationId, observability },
          userId: (await world.records.run(command.runId))?.userId ?? LOCAL_USER,
        }),
        // The host of the item: the run, or a shard of it.
        watcher: addressOfCommand(command.id),
      },
    });
    return { type: 'conversationStarted', commandId: command.id, index: command.index, conversationId };
  },
  failed: (command, error) => ({
    type: 'startRefused',
    commandId: command.id,
    index: command.index,
    reason: `${error.code}: ${error.message}`,
  }),
});

/** Null where the repository is cloned as its host serves it. */
function repositoryFacts({ repository }: PlanItem): LaunchRepository | null {
  const { ref = null, submodules = false, lfs = false } = repository ?? {};
  return ref === null && !submodules && !lfs ? null : { ref, submodules, lfs };
}

/** Copies the list: the plan's own is read-only. */
function setupOf({ command, timeoutMs, cache }: NonNullable<PlanItem['setup']>): LaunchSetup {
  return { command, timeoutMs, ...(cache === undefined ? {} : { cache: [...cache] }) };
}

/**
 * Nothing is sealed for a start that is refused.
 * @throws ParleyError secret_unknown, secret_reserved, secret_in_message
 */
async function sealSecrets(
  world: World,
  of: { readonly plan: Plan; readonly item: PlanItem; readonly runId: RunId },
  id: ConversationId,
): Promise<void> {
  const { item } = of;
  const values = new Map<string, string>();
  for (const [name, secret] of Object.entries(item.secrets)) {
    // The job language refuses these names, too; a plan may come from somewhere else.
    if (!isPermittedName(name)) {
      throw new ParleyError(
        'secret_reserved',
        `Cannot start "${item.key}": the secret name "${name}" is reserved or not permitted`,
      );
    }
    values.set(name, await secretOfRun(world, of, secret));
  }
  if (secretForms(values.values()).some((form) => item.prompt.includes(form))) {
    throw new ParleyError(
      'secret_in_message',
      `Cannot start "${item.key}": its prompt contains the value of a secret`,
    );
  }
  const tokenSecret = item.repository?.tokenSecret ?? null;
  const token = tokenSecret === null ? null : await secretOfRun(world, of, tokenSecret);
  for (const [name, value] of values) await world.vault.put(secretScope(id), name, value);
  if (token !== null) await world.vault.put(repositoryScope(id), 'token', token);
}

/** A plan may come from somewhere else than a job file. @throws ParleyError plan_invalid */
function observabilityOf({ key, observability }: PlanItem): Observability | null {
  if (observability === undefined) return null;
  const { spanName, tags, metadata } = observability;
  const read = readObservability({
    observability_span_name: spanName,
    observability_tags: tags,
    observability_metadata: metadata,
  });
  if (read.kind === 'read') return read.observability;
  const said = read.problems.map(({ field, message }) => `${field} ${message}`).join(', ');
  throw new ParleyError('plan_invalid', `Cannot start "${key}": ${said}`);
}

interface ItemContext {
  /** The owner of the run. */
  readonly userId: UserId;
  readonly item: PlanItem;
  readonly conversationId: ConversationId;
  readonly observability: Observability | null;
}

function specOf(
  world: World,
  plan: Plan,
  command: Start,
  { userId: owner, item, conversationId, observability }: ItemContext,
): ConversationSpec {
  const { deployment, keys } = world;
  const pool = poolPlacement(plan, item, command.runId);
  const host = hostPin(plan.placement);
  return {
    conversationId,
    userId: owner,
    runId: command.runId,
    key: item.key,
    itemIndex: command.index,
    title: `${plan.name}: ${item.key}`,
    repository: item.repository?.name ?? null,
    codeHost: item.repository?.host ?? null,
    branch: item.repository?.branch ?? null,
    model: item.model,
    tags: item.tags,
    strategy:
      plan.placement.strategy ??
      (pool === null ? (command.strategy ?? deployment.grouping) : POOL_STRATEGY_DEFAULT),
    sandboxId: plan.placement.sandboxId === null ? null : sandboxId(plan.placement.sandboxId),
    initialMessage: { messageId: keys.uuidOf(`${conversationId}/initial`), text: item.prompt, run: true },
    iterationsMax: item.limits.turns ?? deployment.iterationsMax,
    confirmation: item.confirmation ?? 'never',
    nanoUsdMax: item.limits.nanoUsd,
    noProgressMs: waitOf(item, plan).noProgressMs,
    ...(pool === null ? {} : { pool }),
    ...(host === undefined ? {} : { host }),
    ...(observability === null ? {} : { observability }),
  };
}
