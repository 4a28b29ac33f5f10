/**
 * What one conversation has to report to the server above, in order, and the sending of it.
 * Owns batching, retries and the bound of the queue. What was dropped is read from the event search instead.
 */
import type { WebhookConfig } from '../config.ts';
import { postJson } from './endpoint.ts';
import {
  WEBHOOK_BATCH_BYTES_MAX,
  WEBHOOK_BATCH_EVENTS_MAX,
  WEBHOOK_QUEUE_BYTES_MAX,
  WEBHOOK_QUEUE_ITEMS_MAX,
  WEBHOOK_TIMEOUT_MS,
} from '../limits.ts';
import { messageOf, type Log } from './log.ts';
import type { World } from '../world.ts';

interface WebhookItem {
  readonly kind: 'event' | 'info';
  /** JSON text of one event or one record. */
  readonly json: string;
}

interface WebhookTarget {
  readonly config: WebhookConfig;
  readonly headers: Readonly<Record<string, string>>;
  /** Where events go; records go to `conversations`. */
  readonly eventsPath: string;
}

/** Answers that no retry changes: the batch is dropped, or it would block everything behind it. */
const DEFINITE_REFUSALS: ReadonlySet<number> = new Set([400, 404, 405, 410, 413, 422]);
/** An answer is one short object. */
const ANSWER_BYTES_MAX = 64 * 1024;

export class WebhookQueue {
  readonly #target: WebhookTarget;
  readonly #world: World;
  readonly #log: Log;
  readonly #stop = new AbortController();
  #items: WebhookItem[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;

  constructor(target: WebhookTarget, world: World, log: Log) {
    this.#target = target;
    this.#world = world;
    this.#log = log;
  }

  /** Adds an item. Records and full batches leave at once, other events after the flush delay. */
  push(item: WebhookItem): void {
    if (this.#stop.signal.aborted) return;
    this.#items.push(item);
    this.#bytes += item.json.length;
    this.#dropExcess();
    if (item.kind === 'info' || this.#items.length >= this.#target.config.bufferSize) this.#send();
    else this.#sendAfter(this.#target.config.flushDelayMs);
  }

  /** Resolves when everything has left, or a batch has failed for now. */
  async flush(): Promise<void> {
    this.#send();
    await this.#sending;
  }

  /** Gives up what is in flight or waiting. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#stop.abort();
  }

  #dropExcess(): void {
    let dropped = 0;
    while (this.#items.length > WEBHOOK_QUEUE_ITEMS_MAX || this.#bytes > WEBHOOK_QUEUE_BYTES_MAX) {
      const oldest = this.#items.shift();
      if (oldest === undefined) break;
      this.#bytes -= oldest.json.length;
      dropped += 1;
    }
    if (dropped > 0) this.#log('warning', 'webhook queue is full: oldest entries dropped', { dropped });
  }

  #sendAfter(delayMs: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#send(), delayMs);
    this.#timer.unref();
  }

  #send(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#sending ??= this.#drain().finally(() => {
      this.#sending = null;
    });
  }

  async #drain(): Promise<void> {
    while (this.#items.length > 0 && !this.#stop.signal.aborted) {
      const batch = this.#takeBatch();
      if (await this.#deliver(batch)) continue;
      this.#items = [...batch, ...this.#items];
      this.#bytes += bytesOf(batch);
      this.#dropExcess();
      const { flushDelayMs, retryDelayMs } = this.#target.config;
      if (!this.#stop.signal.aborted) this.#sendAfter(Math.max(flushDelayMs, retryDelayMs));
      return;
    }
  }

  /** One record, or the events up to the next record, within the bounds of a body. */
  #takeBatch(): WebhookItem[] {
    const [first] = this.#items;
    let count = 1;
    let bytes = first?.json.length ?? 0;
    if (first?.kind === 'event') {
      for (const next of this.#items.slice(1, WEBHOOK_BATCH_EVENTS_MAX)) {
        bytes += next.json.length + 1;
        if (next.kind !== 'event' || bytes > WEBHOOK_BATCH_BYTES_MAX) break;
        count += 1;
      }
    }
    const batch = this.#items.splice(0, count);
    this.#bytes -= bytesOf(batch);
    return batch;
  }

  /** True when the batch needs no further try. */
  async #deliver(batch: readonly WebhookItem[]): Promise<boolean> {
    const { config } = this.#target;
    for (let attempt = 0; attempt <= config.retriesMax; attempt += 1) {
      try {
        if (attempt > 0) await this.#world.sleep(config.retryDelayMs, this.#stop.signal);
        const status = await this.#post(batch);
        if (status >= 200 && status < 300) return true;
        this.#log('warning', 'webhook was refused', { status, attempt });
        if (DEFINITE_REFUSALS.has(status)) return true;
      } catch (error) {
        if (this.#stop.signal.aborted) return false;
        this.#log('warning', 'webhook could not be sent', { error: messageOf(error), attempt });
      }
    }
    return false;
  }

  async #post(batch: readonly WebhookItem[]): Promise<number> {
    const { config, eventsPath, headers } = this.#target;
    const [first] = batch;
    const isInfo = first?.kind === 'info';
    const answer = await postJson(`${config.baseUrl}/${isInfo ? 'conversations' : eventsPath}`, {
      headers,
      body: isInfo ? first.json : `[${batch.map((item) => item.json).join(',')}]`,
      timeoutMs: WEBHOOK_TIMEOUT_MS,
      responseBytesMax: ANSWER_BYTES_MAX,
      signal: this.#stop.signal,
    });
    return answer.status;
  }
}

function bytesOf(items: readonly WebhookItem[]): number {
  return items.reduce((sum, item) => sum + item.json.length, 0);
}
