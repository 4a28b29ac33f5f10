/**
 * Starting a conversation: from the request to a machine that has it (D18).
 * Owns the order: accept, seal, deliver. A process that dies in between has answered nobody, and `takeUpStarts` ends it.
 */
import { putLaunchFacts, storedLaunchFacts, launchScope } from '../../activities/launch-facts.ts';
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
import { readObservability } from '../../core/observability.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Json } from '../../ports/engine-store.ts';
import type { StartTask } from '../../ports/start-tasks.ts';
import type { Application } from '../application/application.ts';
import { acceptStart } from '../application/capacity.ts';
import { markOf } from '../application/idempotency-key.ts';
import { invalid } from '../application/validation.ts';
import { activeProfile } from '../settings/profile-record.ts';
import { userSecrets } from '../settings/stored-secrets.ts';
import { settingsOf, type UserSettings } from '../settings/settings-record.ts';
import { hasText, launchPlugins, textOf, withoutSecrets, type StartRequest } from './start-request.ts';

/** An entry of the proxy that takes every name (D24). */
const WILDCARD = '*';
/** A server or a worker that is away is back in seconds or in minutes, and nobody waits. */
const HAND_AGAIN_MS = 2_000;
/** A start is sealed in milliseconds, or its service has ended; a busy store needs seconds. */
const SEALED_MS_MAX = 60_000;

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
  if (known !== null) return sameRequest(application, known, order);
  const { request, userId } = order;
  const secrets = await secretsOf(application, order);
  const settings = await settingsOf(application, userId);
  const task = await taskOf(application, order, settings);
  const kept = await acceptStart(application, task);
  if (kept.taskId !== task.taskId) return sameRequest(application, kept, order);
  try {
    await seal(application, { task, request, secrets, settings });
    await handOrKeep(application, task);
  } catch (error) {
    await forget(application, task);
    throw error;
  }
  return task;
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

function sameRequest(application: Application, task: StartTask, { request }: StartOrder): StartTask {
  if (task.fingerprint === markOf(application, request)) return task;
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

/** The facts come last: where they are, everything is. */
async function seal(
  application: Application,
  {
    task,
    request,
    secrets,
    settings,
  }: {
    readonly task: StartTask;
    readonly request: StartRequest;
    readonly secrets: Readonly<Record<string, string>>;
    readonly settings: UserSettings;
  },
): Promise<void> {
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

async function hand({ requests, startTasks }: Application, task: StartTask): Promise<void> {
  await requests.deliver({
    to: { machine: 'conversation', id: task.conversationId },
    event: { type: 'started', spec: task.spec, watcher: null },
  });
  await startTasks.markDelivered(task.taskId);
}

/** An engine that gave no answer may have taken it: task and secrets are kept, and it is handed again until it was. */
async function handOrKeep(application: Application, task: StartTask): Promise<void> {
  try {
    await hand(application, task);
  } catch (error) {
    if (!isUnanswered(error)) throw error;
    handLater(application, task);
  }
}

/** A conversation that has begun takes the repeat for what it is. Whatever else fails is taken up after a restart. */
function handLater(application: Application, task: StartTask): void {
  const { clock } = application.world;
  clock.setTimer(clock.now() + HAND_AGAIN_MS, () => {
    hand(application, task).catch((error: unknown) => {
      if (isUnanswered(error)) handLater(application, task);
    });
  });
}

function isUnanswered(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'engine_unreachable';
}

/** The place goes first: a task that is there is looked at again. */
async function forget({ startTasks, world, requests }: Application, task: StartTask): Promise<void> {
  const { conversationId, taskId } = task;
  const left = await world.placement.detach(conversationId);
  await startTasks.remove(taskId);
  await world.vault.removeScope(secretScope(conversationId));
  await world.vault.removeScope(launchScope(conversationId));
  if (left.sandboxId === null || !left.sandboxToRemove) return;
  const event = { type: 'deleteRequested', requestId: `start/${taskId}` } as const;
  await requests.deliver({ to: { machine: 'sandbox', id: left.sandboxId }, event });
}

/**
 * After a restart: what was sealed is delivered, again if need be; what was not had no answer, and is forgotten.
 * `isAlone` false: another service may be about to seal a start that is young, and has its time for it.
 */
export async function takeUpStarts(
  application: Application,
  { isAlone }: { readonly isAlone: boolean } = { isAlone: true },
): Promise<void> {
  const { clock } = application.world;
  const before = isAlone ? Infinity : clock.now() - SEALED_MS_MAX;
  for (const task of await application.startTasks.undelivered()) {
    if (task.createdAt < before) await takeUp(application, task);
    // What fails then is taken up after the next restart.
    else
      clock.setTimer(task.createdAt + SEALED_MS_MAX, () => {
        takeUp(application, task).catch(() => undefined);
      });
  }
}

async function takeUp(application: Application, task: StartTask): Promise<void> {
  const facts = await storedLaunchFacts(application.world.vault, task.conversationId);
  await (facts === null ? forget(application, task) : handOrKeep(application, task));
}

/** Values that must be in no text of this conversation. */
export async function secretValues(
  { world }: Application,
  conversationId: ConversationId,
): Promise<readonly string[]> {
  return Object.values(await openSecrets(world, conversationId));
}
