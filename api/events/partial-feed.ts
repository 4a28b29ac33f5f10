/**
 * What is not an event yet, from the Agent Server of a conversation to the clients that follow it: words of a model as
 * they come, output of a command that runs. It is not stored; a slow or absent client misses some, the event has all.
 * Owns one connection for all clients of a conversation, its bounds, and what of it may pass (D31). It wakes nothing.
 */
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { reachableAgent } from '../../activities/agent-target.ts';
import { GrowingRedaction } from '../../activities/growing-redaction.ts';
import { hiddenForms, openSecrets } from '../../activities/redaction.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { Application } from '../application/application.ts';

/** A larger frame of an Agent Server ends the connection; other servers send their events over it, too. */
const FRAME_BYTES_MAX = 4 * 1024 * 1024;
/** A larger frame of what is not an event yet is skipped. */
const PARTIAL_BYTES_MAX = 64 * 1024;
/** Of one conversation, to each client that follows it: what is more is left out. */
const BYTES_PER_SECOND_MAX = 128 * 1024;
/** Between two tries to reach an Agent Server that is not up, or has ended the connection. */
const AGAIN_MS = 1_000;
const AGAIN_MS_MAX = 8_000;
const CONNECT_MS_MAX = 10_000;
/** A secret that was added meanwhile is known after so long; our own Agent Server knows it at once. */
const SECRETS_MS = 5_000;

const name = z.string().max(200);
const partialSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('StreamingDeltaEvent'),
    content: z.string().nullish(),
    reasoning_content: z.string().nullish(),
    llm_response_id: name.nullish(),
  }),
  z.object({
    kind: z.literal('StreamingOutputEvent'),
    tool_name: name,
    tool_call_id: name,
    action_id: name,
    content: z.string(),
  }),
]);

type PartialFrame = z.infer<typeof partialSchema>;

/** Receives JSON text; must return at once. */
export type PartialListener = (text: string) => void;

export interface PartialFeeds {
  /** Until the signal fires. */
  listen(conversationId: ConversationId, listener: PartialListener, signal: AbortSignal): void;
}

interface Feed {
  readonly listeners: Set<PartialListener>;
  readonly ended: AbortController;
}

export function openPartialFeeds(application: Application): PartialFeeds {
  const feeds = new Map<ConversationId, Feed>();
  return {
    listen(conversationId, listener, signal) {
      if (signal.aborted) return;
      const feed = feeds.get(conversationId) ?? { listeners: new Set(), ended: new AbortController() };
      if (feed.listeners.size === 0) {
        feeds.set(conversationId, feed);
        void follow(application, conversationId, feed);
      }
      feed.listeners.add(listener);
      signal.addEventListener('abort', () => {
        feed.listeners.delete(listener);
        if (feed.listeners.size > 0) return;
        feeds.delete(conversationId);
        feed.ended.abort();
      });
    },
  };
}

/** Never rejects: clients get the events all the same. */
async function follow(application: Application, id: ConversationId, feed: Feed): Promise<void> {
  const { signal } = feed.ended;
  const tell = bounded((text) => {
    for (const listener of feed.listeners) listener(text);
  });
  for (let failures = 0; !signal.aborted; failures += 1) {
    const hasSpoken = await connect(application, id, { signal, tell }).catch(() => false);
    if (hasSpoken) failures = 0;
    const waitMs = Math.min(AGAIN_MS * 2 ** Math.min(failures, 8), AGAIN_MS_MAX);
    await pause(waitMs, undefined, { signal }).catch(() => undefined);
  }
}

interface Following {
  readonly signal: AbortSignal;
  tell(text: string): void;
}

interface Speaking extends Following {
  readonly redaction: GrowingRedaction;
}

/** Resolves when the connection has ended: true when it was ever open. */
async function connect(
  { world, relay }: Application,
  id: ConversationId,
  { signal, tell }: Following,
): Promise<boolean> {
  const row = await world.records.conversation(id);
  const sandboxId = row?.sandboxId ?? null;
  const sandbox = sandboxId === null ? null : await world.records.sandbox(sandboxId);
  if (sandbox?.available !== true || signal.aborted) return false;
  const { generation } = sandbox;
  const { address, sessionKey } = await reachableAgent(world, { sandboxId: sandbox.sandboxId, generation });
  const duplex = await relay.connect(address);
  if (signal.aborted) {
    duplex.destroy();
    return false;
  }
  const redaction = new GrowingRedaction();
  const refresh = async (): Promise<void> =>
    redaction.hide(hiddenForms(Object.values(await openSecrets(world, id))));
  await refresh();
  const timer = setInterval(() => void refresh().catch(() => undefined), SECRETS_MS);
  try {
    return await spoken(openSocket(duplex, { id, sessionKey }), { signal, redaction, tell });
  } finally {
    clearInterval(timer);
  }
}

function openSocket(
  duplex: Duplex,
  { id, sessionKey }: { readonly id: ConversationId; readonly sessionKey: string },
): WebSocket {
  const path = `/sockets/events/${id.replaceAll('-', '')}?partials=only`;
  return new WebSocket(`ws://agent${path}`, {
    createConnection: () => duplex as never,
    headers: { 'x-session-api-key': sessionKey },
    maxPayload: FRAME_BYTES_MAX,
    perMessageDeflate: false,
    handshakeTimeout: CONNECT_MS_MAX,
  });
}

function spoken(socket: WebSocket, { signal, redaction, tell }: Speaking): Promise<boolean> {
  return new Promise((resolve) => {
    let isOpen = false;
    const leave = (): void => socket.terminate();
    signal.addEventListener('abort', leave, { once: true });
    socket.on('open', () => (isOpen = true));
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      signal.removeEventListener('abort', leave);
      resolve(isOpen);
    });
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary || data.length > PARTIAL_BYTES_MAX) return;
      const text = passed(data, redaction);
      if (text !== null) tell(text);
    });
  });
}

/** Known fields alone; null for what is an event, or nothing that is known. */
function passed(data: Buffer, redaction: GrowingRedaction): string | null {
  if (!data.includes('"Streaming')) return null;
  try {
    const { success, data: partial } = partialSchema.safeParse(JSON.parse(data.toString('utf8')));
    return success ? JSON.stringify(withoutSecrets(partial, redaction)) : null;
  } catch {
    return null;
  }
}

function withoutSecrets(partial: PartialFrame, redaction: GrowingRedaction): PartialFrame {
  if (partial.kind === 'StreamingOutputEvent')
    return { ...partial, content: redaction.take(`output ${partial.action_id}`, partial.content) };
  const { content, reasoning_content: reasoning, llm_response_id: id } = partial;
  return {
    ...partial,
    ...(typeof content === 'string' ? { content: redaction.take(`words ${id ?? ''}`, content) } : {}),
    ...(typeof reasoning === 'string'
      ? { reasoning_content: redaction.take(`thoughts ${id ?? ''}`, reasoning) }
      : {}),
  };
}

/** What is more than the bound of a second is left out, so that a sandbox cannot fill a browser's send queue. */
function bounded(tell: (text: string) => void): (text: string) => void {
  let left = BYTES_PER_SECOND_MAX;
  let at = performance.now();
  return (text) => {
    const now = performance.now();
    left = Math.min(BYTES_PER_SECOND_MAX, left + ((now - at) / 1_000) * BYTES_PER_SECOND_MAX);
    at = now;
    if (text.length > left) return;
    left -= text.length;
    tell(text);
  };
}
