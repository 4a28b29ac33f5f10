/**
 * Calls whose service is killed beside each of its commits in turn, and what the next service must make of them.
 * Owns the calls, the kill points and the comparison; which engine it is makes no difference here.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { callServed, serve, type Served, type ServeOptions } from './served.ts';
import type { ServiceAnswer, ServiceCall } from './service.ts';

const APP = '/api/v1/app-conversations';
const SANDBOXES = '/api/v1/sandboxes';
const POLL_MS = 50;
/** Engines wait before they try again what a dead worker held. */
const UNTIL_MS = 180_000;
const PRELOAD = path.join(import.meta.dirname, 'kill-at-commit.js');

/** A service that is killed and begun again on the same data. */
export class Mortal {
  readonly #folder: string;
  readonly #options: ServeOptions;
  #served: Served | null = null;
  #key = '';
  #file = '';
  #lives = 0;

  constructor(folder: string, options: ServeOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  async begin(): Promise<void> {
    this.#lives += 1;
    this.#file = path.join(this.#folder, `kill-${this.#lives}`);
    const { env = {}, ...options } = this.#options;
    this.#served = await serve(this.#folder, {
      ...options,
      env: { ...env, KILL_AT_COMMIT_FILE: this.#file },
      execArgv: ['--import', PRELOAD],
    });
    this.#key = this.#served.key ?? this.#key;
  }

  call(call: ServiceCall): Promise<ServiceAnswer> {
    if (this.#served === null) throw new Error('it was not begun');
    return callServed(this.#served, this.#key, call);
  }

  /** From now on the n-th commit is its last; negative for just before it. */
  async arm(n: number): Promise<void> {
    writeFileSync(this.#file, String(n));
    this.#served?.child.kill('SIGUSR2');
    while (!existsSync(`${this.#file}.armed`)) await pause();
    rmSync(`${this.#file}.armed`);
  }

  get isDead(): boolean {
    const { child } = this.#served ?? {};
    return child === undefined || child.exitCode !== null || child.signalCode !== null;
  }

  async end(): Promise<void> {
    if (!this.isDead) await this.#served?.end('SIGKILL');
  }

  /** Resolves with what `poll` found, or null when the service died first. */
  async untilOrDead<Value>(poll: () => Promise<Value | null>): Promise<Value | null> {
    const end = Date.now() + UNTIL_MS;
    for (;;) {
      const found = await poll().catch((error: unknown) => {
        if (error instanceof TypeError) return null;
        throw error;
      });
      if (found !== null) return found;
      if (this.isDead) return null;
      if (Date.now() > end) throw new Error(`it never came: ${poll.toString()}`);
      await pause();
    }
  }
}

interface Prepared {
  /** The request; sent again with the same key when no answer came. */
  readonly ask: ServiceCall;
  /** Statuses that say it was accepted, also of the repeat. */
  readonly taken: readonly number[];
  /** What shows that it is done, to be compared; null while it is not. */
  done(answer: ServiceAnswer | null): Promise<unknown>;
}

export interface KilledCall {
  /** What `done` finds in the end, whenever the service was killed. */
  readonly expected: unknown;
  prepare(service: Mortal, point: number): Promise<Prepared>;
}

const ready = async (service: Mortal): Promise<{ id: string; sandboxId: string }> => {
  const { body } = await service.call({ method: 'POST', path: APP, body: {} });
  return (await service.untilOrDead(() => readyTask(service, body.id as string))) as never;
};

async function readyTask(service: Mortal, taskId: string): Promise<{ id: string; sandboxId: string } | null> {
  const [task] = (await service.call({ path: `${APP}/start-tasks?ids=${taskId}` })).body;
  if (task?.status === 'ERROR') throw new Error(`the start failed: ${task.detail}`);
  return task?.status === 'READY' ? { id: task.app_conversation_id, sandboxId: task.sandbox_id } : null;
}

/** The one with a tag of its own, once it is READY: how many there are. */
const start: KilledCall = {
  expected: { started: 1 },
  prepare: (service, point) =>
    Promise.resolve({
      ask: {
        method: 'POST',
        path: APP,
        body: { tags: { point: String(point) } },
        headers: { 'idempotency-key': `start-${point}` },
      },
      taken: [200],
      async done(answer) {
        if (answer !== null && (await readyTask(service, answer.body.id as string)) === null) return null;
        const { items } = (await service.call({ path: `${APP}/search?tag=point%3D${point}` })).body;
        const up = items.filter((one: { start_task_status: string }) => one.start_task_status === 'READY');
        return up.length === 0 ? null : { started: items.length };
      },
    }),
};

const message: KilledCall = {
  expected: { told: 1 },
  async prepare(service, point) {
    const { id } = await ready(service);
    return {
      ask: {
        method: 'POST',
        path: `${APP}/${id}/send-message`,
        body: { content: [{ type: 'text', text: `word ${point}` }], run: false },
        headers: { 'idempotency-key': `message-${point}` },
      },
      taken: [200],
      async done() {
        const events = await service.call({ path: `/api/v1/conversation/${id}/events/search` });
        const told = events.body.items.filter((event: object) =>
          JSON.stringify(event).includes(`word ${point}`),
        );
        return told.length === 0 ? null : { told: told.length };
      },
    };
  },
};

const pausing: KilledCall = {
  expected: { status: 'PAUSED', reason: 'user' },
  async prepare(service, point) {
    const { sandboxId } = await ready(service);
    return {
      ask: {
        method: 'POST',
        path: `${SANDBOXES}/${sandboxId}/pause`,
        headers: { 'idempotency-key': `pause-${point}` },
      },
      taken: [200],
      async done() {
        const [row] = (await service.call({ path: `${SANDBOXES}?id=${sandboxId}` })).body;
        if (row.status !== 'PAUSED' || row.transition !== null) return null;
        return { status: row.status, reason: row.pause_reason };
      },
    };
  },
};

const deletion: KilledCall = {
  expected: { record: null, sandbox: 'MISSING' },
  async prepare(service) {
    const { id, sandboxId } = await ready(service);
    return {
      ask: { method: 'DELETE', path: `${APP}/${id}` },
      // A repeat may find nothing left to delete.
      taken: [200, 404],
      async done() {
        const [record] = (await service.call({ path: `${APP}?ids=${id}` })).body;
        const [row] = (await service.call({ path: `${SANDBOXES}?id=${sandboxId}` })).body;
        return record === null && row.status === 'MISSING' ? { record, sandbox: row.status } : null;
      },
    };
  },
};

export const KILLED_CALLS: Readonly<Record<string, KilledCall>> = {
  start,
  message,
  pause: pausing,
  delete: deletion,
};

/** Kills the service once, at the point. False when all was done before the point came: there are no further ones. */
export async function killOnce(service: Mortal, call: KilledCall, point: number): Promise<boolean> {
  const { ask, taken, done } = await call.prepare(service, point);
  await service.arm(point);
  let answer = await service.call(ask).catch(() => null);
  if (answer !== null) expect(taken).toContain(answer.status);
  const early = await service.untilOrDead(() => done(answer));
  if (early !== null && !service.isDead) {
    expect(early).toEqual(call.expected);
    return false;
  }
  await service.begin();
  // The client does not know whether it was accepted: sent twice, it must act as if sent once.
  answer ??= await service.call(ask);
  expect(taken).toContain(answer.status);
  const found = await service.untilOrDead(() => done(answer));
  expect(found).toEqual(call.expected);
  await clear(service);
  return true;
}

/** Its sandboxes go, so that the next point finds as much room as this one. */
async function clear(service: Mortal): Promise<void> {
  const sandboxes = async (): Promise<readonly { readonly id: string; readonly status: string }[]> =>
    (await service.call({ path: `${SANDBOXES}/search` })).body.items;
  for (const { id, status } of await sandboxes())
    if (status !== 'MISSING') await service.call({ method: 'DELETE', path: `${SANDBOXES}/${id}` });
  const isGone = async (): Promise<true | null> =>
    (await sandboxes()).every(({ status }) => status === 'MISSING') ? true : null;
  expect(await service.untilOrDead(isGone)).toBe(true);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
