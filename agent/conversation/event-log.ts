/**
 * The append-only event file of one conversation and its copy in memory (D15).
 * Owns ids, times and parents of events and the repair of a torn end. Knows nothing of what events mean.
 */
import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';

import { parseStoredEvent, type ConversationEvent, type EventDraft } from './event.ts';
import { naiveTimestamp, nextEventUs, parseTimestampUs } from '../timestamp.ts';
import type { World } from '../world.ts';

const LINE_END = 0x0a;

export interface AppendOptions {
  /** The event's id; a fresh one when absent. */
  readonly id?: string;
  /** Whether the event is on the disk, not only with the system, when the call returns. */
  readonly durable?: boolean;
}

export class EventLog {
  readonly #world: World;
  readonly #fd: number;
  readonly #events: ConversationEvent[] = [];
  readonly #byId = new Map<string, number>();
  #sizeBytes: number;
  #lastUs = 0;
  #leafId: string | null = null;
  #closed = false;
  /** Lines that could not be read back; they stay in the file. */
  readonly unreadableLines: number;

  /**
   * Opens or creates the file. A last line without its line end was torn by a crash and is cut off.
   */
  constructor(path: string, world: World) {
    this.#world = world;
    this.#fd = openSync(path, 'a+', 0o600);
    const bytes = readFileSync(path);
    this.#sizeBytes = bytes.lastIndexOf(LINE_END) + 1;
    if (this.#sizeBytes < bytes.length) ftruncateSync(this.#fd, this.#sizeBytes);
    const lines = bytes.subarray(0, this.#sizeBytes).toString('utf8').split('\n').slice(0, -1);
    const events = lines.map(parseStoredEvent);
    for (const event of events) if (event !== null) this.#remember(event);
    this.unreadableLines = events.filter((event) => event === null).length;
  }

  /**
   * Appends one event and returns it completed.
   *
   * @throws the system's error when the disk refuses; the file then ends where it did before
   * @throws Error the log is closed: its descriptor may belong to another file by now
   */
  append(draft: EventDraft, options: AppendOptions = {}): ConversationEvent {
    if (this.#closed) throw new Error('Cannot append event: the log is closed');
    const timeUs = nextEventUs(this.#lastUs, this.#world.nowMs());
    const envelope = {
      id: options.id ?? this.#world.uuid(),
      timestamp: naiveTimestamp(timeUs),
      parent_id: this.#leafId,
    };
    const event = { ...envelope, ...draft } as ConversationEvent;
    this.#write(Buffer.from(`${JSON.stringify(event)}\n`, 'utf8'), options.durable ?? false);
    this.#remember(event);
    return event;
  }

  #write(line: Buffer, durable: boolean): void {
    try {
      let written = 0;
      while (written < line.length) written += writeSync(this.#fd, line, written);
      // Some file systems find room for a line only now.
      if (durable) fdatasyncSync(this.#fd);
      this.#sizeBytes += line.length;
    } catch (error) {
      ftruncateSync(this.#fd, this.#sizeBytes);
      throw error;
    }
  }

  #remember(event: ConversationEvent): void {
    this.#byId.set(event.id, this.#events.length);
    this.#events.push(event);
    this.#lastUs = Math.max(this.#lastUs, parseTimestampUs(event.timestamp) ?? 0);
    if (event.kind !== 'ConversationStateUpdateEvent') this.#leafId = event.id;
  }

  all(): readonly ConversationEvent[] {
    return this.#events;
  }

  get(id: string): ConversationEvent | null {
    return this.#events[this.#byId.get(id) ?? -1] ?? null;
  }

  indexOf(id: string): number | null {
    return this.#byId.get(id) ?? null;
  }

  leafId(): string | null {
    return this.#leafId;
  }

  last<E extends ConversationEvent>(wanted: (event: ConversationEvent) => event is E): E | null {
    for (let index = this.#events.length - 1; index >= 0; index -= 1) {
      const event = this.#events[index];
      if (event !== undefined && wanted(event)) return event;
    }
    return null;
  }

  /** Brings everything to the disk and closes the file. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    fdatasyncSync(this.#fd);
    closeSync(this.#fd);
  }
}
