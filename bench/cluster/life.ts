/**
 * One conversation as a client leads it, at another service with every call: a start, messages, a pause now and then, and
 * the answer to an agent that asks.
 * Owns what was accepted and what was refused; the judge checks the results.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { RandomStream } from '../../simulator/random.ts';
import type { Answer, Body, Caller } from './caller.ts';
import { RISKY, API_KEY } from './deployment.ts';

export const APP = '/api/v1/app-conversations';
/** Final statuses of a sandbox: it ended with its machine, or with a host that was given up. */
export const OVER: ReadonlySet<string> = new Set(['ERROR', 'MISSING']);
const POLL_MS = 400;
/** The most that a start or a confirmation may take; after it the client stops waiting. */
const WAIT_MS = 300_000;

export interface Life {
  readonly name: string;
  taskId: string | null;
  conversationId: string | null;
  sandboxId: string | null;
  /** Messages that were accepted, the first one included, in order; null for the id of the first. */
  readonly accepted: { readonly text: string; readonly id: string | null }[];
  /** What was refused, with the code. */
  readonly refused: string[];
  /** How long the start took. */
  startMs: number;
  /** From its first call until its last was accepted or refused. */
  totalMs: number;
  stream: TranscriptStream | null;
  /** What no client should observe. */
  readonly findings: string[];
}

const message = (text: string): object => ({ content: [{ type: 'text', text }] });

/** Ends when its last message was accepted or refused. */
export async function live(
  caller: Caller,
  random: RandomStream,
  { name, messages }: { readonly name: string; readonly messages: number },
): Promise<Life> {
  const life: Life = {
    ...{ name, taskId: null, conversationId: null, sandboxId: null, stream: null },
    ...{ accepted: [], refused: [], findings: [], startMs: 0, totalMs: 0 },
  };
  const begunAt = Date.now();
  await lead(caller, random, life, messages);
  life.totalMs = Date.now() - begunAt;
  return life;
}

async function lead(caller: Caller, random: RandomStream, life: Life, messages: number): Promise<void> {
  const { name } = life;
  const begunAt = Date.now();
  const isRisky = random.happens(0.3);
  const first = `${isRisky ? RISKY : 'Begin with'} ${name}, please.`;
  const isReady = await start(caller, life, first);
  life.startMs = Date.now() - begunAt;
  if (!isReady) return;
  life.stream = new TranscriptStream(caller, life.conversationId ?? '');
  if (isRisky) await confirm(caller, life);
  for (let number = 1; number <= messages && life.refused.length === 0; number += 1) {
    if (random.happens(0.3)) await pauseSandbox(caller, life, number);
    await say(caller, random, life, number);
    await pause(random.next() * 2_000);
  }
}

/** Under one key, to two services at once: like a client that got no answer and repeats. */
async function twice(caller: Caller, life: Life, path: string, key: string, body: object): Promise<Answer> {
  const call = { method: 'POST', path, key, body } as const;
  const answers = await Promise.all([caller.call(call), caller.call(call)]);
  const [one, other] = answers as [Answer, Answer];
  const idOf = ({ body: told }: Answer): unknown => told?.id ?? told?.message_id ?? null;
  if (one.status < 300 && other.status < 300 && idOf(one) !== idOf(other))
    life.findings.push(`${path} was done twice under one key: ${idOf(one)} and ${idOf(other)}`);
  return one.status < 300 ? one : other;
}

async function start(caller: Caller, life: Life, text: string): Promise<boolean> {
  const body = { title: life.name, initial_message: message(text) };
  const { status, body: task } = await twice(caller, life, APP, `start-${life.name}`, body);
  if (status >= 300) {
    life.refused.push(`start: ${status} ${task?.code}`);
    return false;
  }
  life.taskId = task.id;
  const ended = await until(async () => {
    const [now] = await caller.get(`${APP}/start-tasks?ids=${life.taskId}`);
    return now?.status === 'READY' || now?.status === 'ERROR' ? (now as Body) : null;
  });
  if (ended === null) {
    life.findings.push(`the start of ${life.name} (${life.taskId}) came to no end in ${WAIT_MS / 1_000} s`);
    return false;
  }
  life.conversationId = ended.app_conversation_id;
  life.sandboxId = ended.sandbox_id;
  if (ended.status === 'ERROR') {
    life.refused.push(`start: ${ended.detail}`);
    return false;
  }
  life.accepted.push({ text, id: null });
  return true;
}

/** The agent asks once, before an action that it calls risky. */
async function confirm(caller: Caller, life: Life): Promise<void> {
  const asks = await until(async () => {
    const [record] = await caller.get(`${APP}?ids=${life.conversationId}`);
    if (OVER.has(record?.sandbox_status) || record?.execution_status === 'ERROR') return 'ended';
    return record?.execution_status === 'WAITING_FOR_CONFIRMATION' ? 'asks' : null;
  });
  if (asks === null) life.findings.push(`${life.name} (${life.conversationId}) never asked`);
  if (asks !== 'asks') return;
  const path = `${APP}/${life.conversationId}/confirmation`;
  const { status, body } = await caller.call({
    ...{ method: 'POST', path, body: { accept: true }, key: `confirm-${life.name}` },
  });
  if (status >= 300) life.refused.push(`confirmation: ${status} ${body?.code}`);
}

async function pauseSandbox(caller: Caller, life: Life, number: number): Promise<void> {
  const path = `/api/v1/sandboxes/${life.sandboxId}/pause`;
  await caller.call({ method: 'POST', path, key: `pause-${life.name}-${number}` });
}

async function say(caller: Caller, random: RandomStream, life: Life, number: number): Promise<void> {
  const path = `${APP}/${life.conversationId}/send-message`;
  const text = `Message ${number} of ${life.name}.`;
  const key = `say-${life.name}-${number}`;
  const { status, body } = random.happens(0.3)
    ? await twice(caller, life, path, key, message(text))
    : await caller.call({ method: 'POST', path, key, body: message(text) });
  if (status < 300) life.accepted.push({ text, id: body.message_id });
  else life.refused.push(`${text} ${status} ${body?.code}`);
}

async function until<T>(look: () => Promise<T | null>): Promise<T | null> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await pause(POLL_MS)) {
    const found = await look();
    if (found !== null) return found;
  }
  return null;
}

const RETRY_MS = 200;
/** A stopped service sends nothing; a live stream gets a heartbeat every few seconds. */
const SILENT_MS = 20_000;

/**
 * One conversation's events as they come: when a service ends the stream, the next service continues after the last
 * number.
 * Owns the numbers and ids seen; a gap or a repeat is a finding.
 */
class TranscriptStream {
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
