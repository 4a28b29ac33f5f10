/**
 * Starting a conversation: from the request to a machine that has it (D18).
 * Owns the order: accept, seal, deliver. The caller is answered only once the start is sealed: from then on it is
 * delivered, whatever becomes of this process (start-delivery.ts).
 */
import { putLaunchFacts } from '../../activities/launch-facts.ts';
import { openSecrets, secretScope } from '../../activities/redaction.ts';
import { requireNotIn, requirePermitted } from '../../activities/secret-rules.ts';
import { firstTitle } from '../../core/conversation/first-title.ts';
import type { ConversationSpec } from '../../core/conversation/state.ts';
import {
  conversationId as asConversationId,
  sandboxId,
  type ConversationId,
  type UserId,
} from '../../core/ids.ts';
import { hostPin, type HostPin } from '../../core/placement/choose-host.ts';
import { readObservability } from '../../core/observability.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Json } from '../../ports/engine-store.ts';
import type { StartTask } from '../../ports/start-tasks.ts';
import type { Application } from '../application/application.ts';
import { acceptStart } from '../application/capacity.ts';
import { requireHosts } from '../application/host-pin.ts';
import { markOf } from '../application/idempotency-key.ts';
import { invalid } from '../application/validation.ts';
import { activeProfile } from '../settings/profile-record.ts';
import { userSecrets } from '../settings/stored-secrets.ts';
import { settingsOf, type UserSettings } from '../settings/settings-record.ts';
import { deliverStart, removeSealed, takeBack } from './start-delivery.ts';
import { hasText, launchPlugins, textOf, withoutSecrets, type StartRequest } from './start-request.ts';

/** An entry of the proxy that takes every name (D24). */
const WILDCARD = '*';

export interface StartOrder {
  readonly userId: UserId;
  readonly request: StartRequest;
  readonly idempotencyKey: string | null;
}

/**
 * The task of this request, or of the same one before it.
 * @throws ParleyError idempotency_conflict, concurrency_limit_reached, secret_in_message, secret_reserved
 */
export async function startConversation(application: Application, order: StartOrder): Promise<StartTask> {
  const known = await knownTask(application, order);
  if (known !== null) return await repeated(application, known, order);
  const { request, userId } = order;
  const secrets = await secretsOf(application, order);
  const settings = await settingsOf(application, userId);
  const task = await taskOf(application, order, settings);
  const kept = await acceptStart(application, task);
  if (kept.taskId !== task.taskId) return await repeated(application, kept, order);
  await sealAndDeliver(application, { task, request, secrets, settings });
  return task;
}

/** The same start: where the one before it was cut off ahead of its answer, this one has the secrets and goes on. */
async function repeated(application: Application, task: StartTask, order: StartOrder): Promise<StartTask> {
  sameRequest(application, task, order);
  switch (await application.startTasks.stageOf(task.taskId)) {
    case 'sealed':
      return task;
    case 'accepted': {
      const secrets = await secretsOf(application, order);
      const settings = await settingsOf(application, order.userId);
      await sealAndDeliver(application, { task, request: order.request, secrets, settings });
      return task;
    }
    case 'abandoned':
    case null:
      throw takenBack();
  }
}

/** @throws why it could not be sealed, or why the engine does not take it: then it is forgotten, and nothing has begun */
async function sealAndDeliver(application: Application, sealing: Sealing): Promise<void> {
  const { task } = sealing;
  try {
    await seal(application, sealing);
    if (!(await application.startTasks.markSealed(task.taskId))) throw takenBack();
  } catch (error) {
    await takeBack(application, task);
    if (!(await hasTask(application, task))) await removeSealed(application, task);
    throw error;
  }
  await deliverStart(application, task);
}

/** Another service may have taken it back while this one was sealing; a new start of the same id keeps its own. */
async function hasTask({ startTasks }: Application, { userId, conversationId }: StartTask): Promise<boolean> {
  return (await startTasks.count(userId, { conversationId })) > 0;
}

function takenBack(): ParleyError {
  return new ParleyError(
    'store_conflict',
    'Cannot start: an earlier try of the same start is being taken back; ask again',
  );
}

/** A request that was answered before, by the caller's key or by the id it chose (D18). */
async function knownTask(
  { startTasks }: Application,
  { userId, request, idempotencyKey }: StartOrder,
): Promise<StartTask | null> {
  const byKey = idempotencyKey === null ? null : await startTasks.byIdempotencyKey(userId, idempotencyKey);
  const chosen = request.conversation_id ?? null;
  if (byKey !== null || chosen === null) return byKey;
  const conversationId = asConversationId(chosen);
  const page = { after: null, limit: 1, descending: false };
  return (await startTasks.search(userId, { conversationId }, page))[0] ?? null;
}

function sameRequest(application: Application, task: StartTask, { request }: StartOrder): void {
  if (task.fingerprint === markOf(application, request)) return;
  throw new ParleyError(
    'idempotency_conflict',
    'Cannot start: the idempotency key or conversation id was used for another request',
  );
}

/** Those of the request win over stored ones of the same name (D20). */
async function secretsOf(
  application: Application,
  { userId, request }: StartOrder,
): Promise<Readonly<Record<string, string>>> {
  const given = request.secrets ?? {};
  requirePermitted(given);
  const secrets = { ...(await userSecrets(application, userId)), ...given };
  requireNotIn(textOf(request.initial_message?.content ?? []), Object.values(secrets));
  return secrets;
}

async function taskOf(
  application: Application,
  { userId, request, idempotencyKey }: StartOrder,
  settings: UserSettings,
): Promise<StartTask> {
  const conversationId = asConversationId(request.conversation_id ?? application.randomHex(32));
  return {
    taskId: application.randomHex(32),
    userId,
    conversationId,
    createdAt: application.world.clock.now(),
    idempotencyKey,
    // Values of secrets count, too, and cannot be read back from it.
    fingerprint: markOf(application, request),
    request: withoutSecrets(request) as unknown as Json,
    spec: await specOf(application, { userId, request, conversationId, settings }),
  };
}

async function specOf(
  application: Application,
  {
    userId,
    request,
    conversationId,
    settings,
  }: {
    readonly userId: UserId;
    readonly request: StartRequest;
    readonly conversationId: ConversationId;
    readonly settings: UserSettings;
  },
): Promise<ConversationSpec> {
  const { world } = application;
  const profile = await activeProfile(application, userId, settings);
  const given = request.initial_message ?? null;
  const message = given !== null && hasText(given.content) ? given : null;
  const placed = request.sandbox_id ?? null;
  const host = hostOf(application, request);
  return {
    conversationId,
    userId,
    runId: null,
    key: null,
    itemIndex: null,
    title:
      request.title ??
      firstTitle({
        prompt: message === null ? null : textOf(message.content),
        repository: request.selected_repository ?? null,
        branch: request.selected_branch ?? null,
      }),
    repository: request.selected_repository ?? null,
    codeHost: request.git_provider ?? null,
    branch: request.selected_branch ?? null,
    model: request.llm_model ?? profile?.model ?? configuredModel(application),
    tags: request.tags ?? {},
    strategy: settings.grouping,
    sandboxId: placed === null ? null : sandboxId(placed),
    ...(host === undefined ? {} : { host }),
    initialMessage:
      message === null
        ? null
        : {
            messageId: world.keys.uuidOf(`${conversationId}/initial`),
            text: textOf(message.content),
            run: message.run,
          },
    iterationsMax: settings.iterationsMax,
    confirmation: settings.confirmation,
    nanoUsdMax: null,
    noProgressMs: null,
    ...observabilityOf(request),
  };
}

/** @throws InvalidRequest, ParleyError placement_failed */
function hostOf({ world }: Application, request: StartRequest): HostPin | undefined {
  const { host: name, host_labels: labels, sandbox_id: sandbox } = request;
  const pin = hostPin({ host: name ?? undefined, labels: labels ?? undefined });
  if (pin === undefined) return undefined;
  if (sandbox !== undefined && sandbox !== null)
    throw invalid(
      ['body', pin.name === undefined ? 'host_labels' : 'host'],
      'A sandbox that is named is on its host already',
    );
  requireHosts(world.deployment, pin);
  return pin;
}

/** The first that the proxy lists under a name; null where it takes any name, and the choice is its own. */
function configuredModel({ models }: Application): string | null {
  return models.find((name) => name !== WILDCARD) ?? null;
}

/** @throws InvalidRequest */
function observabilityOf(request: StartRequest): Pick<ConversationSpec, 'observability'> {
  const read = readObservability(request);
  if (read.kind === 'read') return read.observability === null ? {} : { observability: read.observability };
  const [problem] = read.problems;
  throw invalid(['body', problem?.field ?? 'observability_metadata'], `The value ${problem?.message}`);
}

interface Sealing {
  readonly task: StartTask;
  readonly request: StartRequest;
  readonly secrets: Readonly<Record<string, string>>;
  readonly settings: UserSettings;
}

/** The facts come last: where they are, everything is. */
async function seal(application: Application, { task, request, secrets, settings }: Sealing): Promise<void> {
  const { vault } = application.world;
  const { conversationId, userId } = task;
  for (const [name, value] of Object.entries(secrets))
    await vault.put(secretScope(conversationId), name, value);
  const profile = await activeProfile(application, userId, settings);
  await putLaunchFacts(vault, conversationId, {
    extraHeaders: profile?.extraHeaders ?? {},
    gitAuthor: settings.gitAuthor,
    plugins: launchPlugins(request),
  });
}

/** Values that must be in no text of this conversation. */
export async function secretValues(
  { world }: Application,
  conversationId: ConversationId,
): Promise<readonly string[]> {
  return Object.values(await openSecrets(world, conversationId));
}
