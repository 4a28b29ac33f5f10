/**
 * The Agent Server as a whole: wires its parts, reloads conversations, listens, and stops in order.
 * Owns the order of start and stop; reads no environment and handles no signals.
 */
import { mkdirSync } from 'node:fs';
import { Activity } from '../activity.ts';
import type { AgentServerConfig, WebhookConfig } from '../config.ts';
import type { Conversation, ConversationListener } from '../conversation/conversation.ts';
import { conversationInfo } from '../conversation/conversation-info.ts';
import { ConversationRegistry, type Entry } from '../conversation/conversation-registry.ts';
import { ConversationStore } from '../conversation/conversation-store.ts';
import { EventSockets } from '../conversation/event-sockets.ts';
import type { ConversationEvent } from '../conversation/event.ts';
import { hexOf } from '../ids.ts';
import { buildHttpServer, keyCheck } from './http-server.ts';
import { STOP_RUNS_MS, STOP_WEBHOOKS_MS } from '../limits.ts';
import { listenOn } from './listen.ts';
import { makeLog, type Log } from './log.ts';
import { serveEventSockets } from '../routes/event-socket.ts';
import { SecretVault } from '../secret-vault.ts';
import type { ServerContext } from './server-context.ts';
import { prepareToolbox } from '../toolbox.ts';
import { settledWithin, systemWorld, type World } from '../world.ts';
import { WebhookQueue } from './webhook-queue.ts';

export interface AgentServer {
  /** `unix:/path` or `http://host:port`. */
  readonly address: string;
  /** Ends runs, writes logs to the disk, sends what webhooks are left, and closes. Repeating it is harmless. */
  stop(): Promise<void>;
}

interface AgentServerOptions {
  readonly world?: World;
  /** Takes log lines, masked JSON without line end. */
  readonly writeLog?: (line: string) => void;
}

/**
 * Starts a server.
 *
 * @throws AddressInUseError another server has the address
 */
export async function startAgentServer(
  config: AgentServerConfig,
  options: AgentServerOptions = {},
): Promise<AgentServer> {
  const world = options.world ?? systemWorld;
  const vault = new SecretVault();
  if (config.sessionKey !== null) vault.mask('server', config.sessionKey);
  const log = makeLog(vault, options.writeLog ?? (() => undefined));
  if (config.sessionKey === null) log('warning', 'no session key is set: every caller is accepted');
  mkdirSync(config.workspaceDir, { recursive: true });
  prepareToolbox();
  const activity = new Activity(world);
  const store = new ConversationStore(config.conversationsDir, world);
  const webhooks =
    config.webhook === null
      ? null
      : new Webhooks({ config: config.webhook, sessionKey: config.sessionKey, world, log });
  const infoOf = (conversation: Conversation, shown = { withSkills: false }): Record<string, unknown> =>
    conversationInfo(conversation, store.directoryOf(conversation.id), shown);
  const sockets = new EventSockets({ world, vault, infoOf });
  const listener = makeListener({ activity, webhooks, sockets, infoOf });
  const { workspaceDir } = config;
  const registry = new ConversationRegistry({ store, vault, activity, world, log, listener, workspaceDir });
  const stopping = new AbortController();
  let opened: () => void = () => undefined;
  const loaded = new Promise<void>((resolve) => (opened = resolve));
  const context: ServerContext = {
    ...{ config, world, activity, vault, registry, loaded },
    info: (entry, shown) => infoOf(entry.conversation, shown),
    announce: (entry: Entry) => listener.infoChanged(entry.conversation),
    stopping: stopping.signal,
  };
  const http = await buildHttpServer(context, log);
  const events = serveEventSockets({ context, sockets, isKey: keyCheck(config.sessionKey) });
  http.server.on('upgrade', events.upgrade);
  // After the address is taken: two servers must never write the same logs.
  const address = await listenOn(http, config.listen);
  registry.loadAll();
  opened();
  const stop = async (): Promise<void> => {
    stopping.abort();
    const closed = http.close();
    await settledWithin(registry.close(), STOP_RUNS_MS);
    events.close();
    await webhooks?.close(STOP_WEBHOOKS_MS);
    await settledWithin(closed, STOP_WEBHOOKS_MS);
  };
  let stopped: Promise<void> | null = null;
  return { address, stop: () => (stopped ??= stop()) };
}

/** Events count as activity (D9) and go to the webhooks; records go there when they change. */
function makeListener(around: {
  readonly activity: Activity;
  readonly webhooks: Webhooks | null;
  readonly sockets: EventSockets;
  readonly infoOf: (conversation: Conversation) => Record<string, unknown>;
}): ConversationListener {
  const { activity, webhooks, sockets, infoOf } = around;
  return {
    eventAppended: (conversation, event) => {
      if (event.kind !== 'ConversationStateUpdateEvent') activity.touch();
      webhooks?.pushEvent(conversation.id, event);
      sockets.advance(conversation);
    },
    runEnded: (conversation) => void sockets.tellRunEnded(conversation),
    isWatched: (conversation) => sockets.isWatched(conversation),
    partialCame: (conversation, partial) => sockets.tellPartial(conversation, partial),
    infoChanged: (conversation) => {
      webhooks?.pushInfo(conversation.id, infoOf(conversation));
      if (conversation.status === 'deleting') webhooks?.forget(conversation.id);
    },
  };
}

interface WebhookSurroundings {
  readonly config: WebhookConfig;
  readonly sessionKey: string | null;
  readonly world: World;
  readonly log: Log;
}

/**
 * Telling the server above about all conversations: one queue each, so that order holds within a conversation and a
 * slow one holds up no other. Owns the queues; each queue owns its sending.
 */
class Webhooks {
  readonly #around: WebhookSurroundings;
  readonly #queues = new Map<string, WebhookQueue>();

  constructor(around: WebhookSurroundings) {
    this.#around = around;
  }

  pushEvent(conversationId: string, event: ConversationEvent): void {
    this.#queueOf(conversationId).push({ kind: 'event', json: JSON.stringify(event) });
  }

  /** The record as it is now; events before it go first. */
  pushInfo(conversationId: string, info: unknown): void {
    this.#queueOf(conversationId).push({ kind: 'info', json: JSON.stringify(info) });
  }

  /** Drops the queue of a deleted conversation once its last record has left or failed. */
  forget(conversationId: string): void {
    const queue = this.#queues.get(conversationId);
    if (queue === undefined) return;
    void queue.flush().finally(() => {
      queue.close();
      if (this.#queues.get(conversationId) === queue) this.#queues.delete(conversationId);
    });
  }

  /** Sends what is left, for at most `withinMs`, and ends. */
  async close(withinMs: number): Promise<void> {
    const queues = [...this.#queues.values()];
    await settledWithin(Promise.all(queues.map((queue) => queue.flush())), withinMs);
    for (const queue of queues) queue.close();
  }

  #queueOf(conversationId: string): WebhookQueue {
    const known = this.#queues.get(conversationId);
    if (known !== undefined) return known;
    const { config, sessionKey, world, log } = this.#around;
    const headers: Record<string, string> = sessionKey === null ? {} : { 'x-session-api-key': sessionKey };
    const eventsPath = `events/${hexOf(conversationId)}`;
    const queue = new WebhookQueue({ config, headers, eventsPath }, world, log);
    this.#queues.set(conversationId, queue);
    return queue;
  }
}
