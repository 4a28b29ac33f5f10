/**
 * One conversation's events as they come, from service to service: whoever ends the stream, the next one goes on behind the
 * last number.
 * Owns the numbers and ids seen; a gap or a repeat is a finding.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { API_KEY } from './deployment.ts';
import type { Caller } from './caller.ts';

const RETRY_MS = 200;
/** A service that is stopped says nothing, and a stream that lives has a sign of life every some seconds. */
const SILENT_MS = 20_000;

export class TranscriptStream {
  readonly ids: string[] = [];
  readonly gaps: string[] = [];
  connections = 0;
  readonly ended: Promise<void>;
  readonly #caller: Caller;
  readonly #conversation: string;
  readonly #stop = new AbortController();
  #isDeleted = false;

  constructor(caller: Caller, conversation: string) {
    this.#caller = caller;
    this.#conversation = conversation;
    this.ended = this.#follow();
  }

  /** Whether it ended because the conversation was deleted. */
  get isDeleted(): boolean {
    return this.#isDeleted;
  }

  stop(): void {
    this.#stop.abort();
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted && !this.#isDeleted) {
      await this.#connection().catch(() => undefined);
      await pause(RETRY_MS);
    }
  }

  async #connection(): Promise<void> {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENT_MS);
    try {
      const path = `/api/v1/conversation/${this.#conversation}/events/stream?after_seq=${this.ids.length}`;
      const response = await fetch(`${this.#caller.next()}${path}`, {
        headers: { authorization: `Bearer ${API_KEY}` },
        signal: AbortSignal.any([silence.signal, this.#stop.signal]),
      });
      if (response.body === null || !response.ok) return;
      this.connections += 1;
      const decoder = new TextDecoder();
      let text = '';
      for await (const chunk of response.body) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENT_MS);
        text += decoder.decode(chunk as Uint8Array, { stream: true });
        const frames = text.split('\n\n');
        text = frames.pop() ?? '';
        for (const frame of frames) this.#take(frame);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #take(frame: string): void {
    if (frame.startsWith('event: deleted')) this.#isDeleted = true;
    const [, number = ''] = /^id: (\d+)$/m.exec(frame) ?? [];
    if (number === '') return;
    const [, data = '{}'] = /^data: (.*)$/m.exec(frame) ?? [];
    if (Number(number) !== this.ids.length + 1) this.gaps.push(`${number} after ${this.ids.length}`);
    this.ids.push((JSON.parse(data) as { readonly id: string }).id);
  }
}
