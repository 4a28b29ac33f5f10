/**
 * The WebSockets that listen to conversations: each is a place in a conversation's log that moves on as frames leave.
 * Owns what is sent, in which order, and the bound on what waits; the handshake is in routes/event-socket.ts.
 */
import type { WebSocket } from 'ws';
import type { Conversation, PartialEvent } from './conversation.ts';
import { withoutNulls } from './event.ts';
import {
  LATE_LISTENER_MS,
  PARTIAL_WAITING_BYTES_MAX,
  SOCKET_WAITING_BYTES_MAX,
  SOCKETS_PER_CONVERSATION_MAX,
} from '../limits.ts';
import { maskEvent } from './masked-record.ts';
import type { SecretVault } from '../secret-vault.ts';
import { naiveTimestamp, parseTimestampUs } from '../timestamp.ts';
import type { World } from '../world.ts';

/** What a new socket gets before the live events: nothing, everything, or events from this instant on. */
export type Resend =
  { readonly kind: 'none' } | { readonly kind: 'all' } | { readonly kind: 'since'; readonly fromUs: number };

/** What a socket is for: the events of the log, or only what is not an event yet. */
export type Listening = { readonly to: 'events'; readonly resend: Resend } | { readonly to: 'partials' };

interface Subscriber {
  readonly socket: WebSocket;
  readonly conversation: Conversation;
  readonly to: Listening['to'];
  /** Index of the next event of the log to send. */
  next: number;
}

export class EventSockets {
  readonly #world: World;
  readonly #vault: SecretVault;
  readonly #infoOf: (conversation: Conversation) => Record<string, unknown>;
  readonly #subscribers = new Map<string, Set<Subscriber>>();

  constructor(around: {
    readonly world: World;
    readonly vault: SecretVault;
    readonly infoOf: (conversation: Conversation) => Record<string, unknown>;
  }) {
    this.#world = around.world;
    this.#vault = around.vault;
    this.#infoOf = around.infoOf;
  }

  /**
   * The whole state, then what is sent again, then every event as it comes; or partial events alone, from now on.
   * False when there are too many.
   */
  add(socket: WebSocket, conversation: Conversation, listening: Listening): boolean {
    const subscribers = this.#subscribers.get(conversation.id) ?? new Set();
    if (subscribers.size >= SOCKETS_PER_CONVERSATION_MAX) return false;
    const next = listening.to === 'events' ? startOf(conversation, listening.resend) : 0;
    const subscriber = { socket, conversation, to: listening.to, next };
    subscribers.add(subscriber);
    this.#subscribers.set(conversation.id, subscribers);
    socket.on('close', () => {
      subscribers.delete(subscriber);
      if (subscribers.size === 0 && this.#subscribers.get(conversation.id) === subscribers)
        this.#subscribers.delete(conversation.id);
    });
    this.#sendState(subscriber);
    this.#pump(subscriber);
    return true;
  }

  /** Clients of the reference get words as they come where the model's settings ask for a stream. */
  isWatched(conversation: Conversation): boolean {
    const subscribers = this.#subscribers.get(conversation.id);
    if (subscribers === undefined) return false;
    if (conversation.meta.llm.stream) return subscribers.size > 0;
    for (const { to } of subscribers) if (to === 'partials') return true;
    return false;
  }

  /** A slow client is skipped: the event has all of it. */
  tellPartial(conversation: Conversation, partial: PartialEvent): void {
    const isForAll = conversation.meta.llm.stream && partial.kind === 'StreamingDeltaEvent';
    const frame = JSON.stringify(this.transient({ ...partial }));
    for (const { socket, to } of this.#subscribers.get(conversation.id) ?? []) {
      if (to !== 'partials' && !isForAll) continue;
      if (socket.readyState === socket.OPEN && socket.bufferedAmount <= PARTIAL_WAITING_BYTES_MAX)
        socket.send(frame);
    }
  }

  /** Sends what the log has gained. */
  advance(conversation: Conversation): void {
    for (const subscriber of this.#subscribers.get(conversation.id) ?? []) this.#pump(subscriber);
  }

  /**
   * Sends the whole state behind everything logged so far, and once more a moment later: clients take it for the end of
   * the run that they requested, and the SDK listens for that only from the response to its request on.
   */
  async tellRunEnded(conversation: Conversation): Promise<void> {
    this.#tellState(conversation);
    await this.#world.sleep(LATE_LISTENER_MS);
    this.#tellState(conversation);
  }

  #tellState(conversation: Conversation): void {
    for (const subscriber of this.#subscribers.get(conversation.id) ?? []) this.#sendState(subscriber);
  }

  /** An event that stands in no log. */
  transient(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const timestamp = naiveTimestamp(this.#world.nowMs() * 1000);
    return { id: this.#world.uuid(), timestamp, source: 'environment', ...fields };
  }

  #sendState({ socket, conversation, to }: Subscriber): void {
    if (to !== 'events') return;
    const info = Object.entries(this.#infoOf(conversation)).filter(([, value]) => value !== null);
    const value = this.#vault.deep(Object.fromEntries(info));
    const event = this.transient({ key: 'full_state', value, kind: 'ConversationStateUpdateEvent' });
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(event));
  }

  /** A slow reader falls behind in the log, and nothing is kept for it. */
  #pump(subscriber: Subscriber): void {
    const { socket, conversation, to } = subscriber;
    if (to !== 'events') return;
    const events = conversation.log.all();
    while (socket.readyState === socket.OPEN && subscriber.next < events.length) {
      if (socket.bufferedAmount > SOCKET_WAITING_BYTES_MAX) return;
      const event = events[subscriber.next];
      subscriber.next += 1;
      if (event === undefined) continue;
      // Masked once more: a secret may have been given after the event was written.
      const frame = JSON.stringify(withoutNulls(maskEvent(event, this.#vault)));
      socket.send(frame, (error) => {
        if (error === null || error === undefined) this.#pump(subscriber);
      });
    }
  }
}

function startOf({ log }: Conversation, resend: Resend): number {
  const events = log.all();
  switch (resend.kind) {
    case 'none':
      return events.length;
    case 'all':
      return 0;
    case 'since': {
      const found = events.findIndex((event) => (parseTimestampUs(event.timestamp) ?? 0) >= resend.fromUs);
      return found === -1 ? events.length : found;
    }
    default:
      return resend satisfies never;
  }
}
