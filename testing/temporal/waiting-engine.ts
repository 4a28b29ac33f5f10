/**
 * An engine on a server that skips time, for a caller that waits for it: nothing is awaited, as on the simulator.
 * Owns the thread, the waiting and its bound; the engine itself lives in a process of its own.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import { ParleyError } from '../../core/parley-error.ts';
import { errorOf, type EngineCall, type EngineValue, type OpenEngine } from './engine-call.ts';
import type { EngineOrder, Rest } from './engine-order.ts';
import type { NumberedCall, NumberedReply, RelayData } from './relay-calls.ts';

/** Real time that one play may take all in all: far longer than any that is worth waiting for. */
export const WALL_DEFAULT_MS = 180_000;
/** A server is about 150 MB; a test that compares has two, and a test that opens a third is done with the first. */
const OPEN_MAX = 2;
const PROGRAM = 'time-skipping.js';

export class WaitingEngine {
  readonly startAt: number;
  private readonly number: number;
  private readonly wallMs: number;
  /** Of the server; null before it is known. */
  private readonly pid: number | null = null;
  private usedMs = 0;
  private isOpen = true;

  /** @throws ParleyError engine_misconfigured without a server; internal when it takes too long */
  constructor({ wallMs = WALL_DEFAULT_MS, eventsMax = null }: Partial<WaitingOptions> = {}) {
    this.wallMs = wallMs;
    const [oldest] = open;
    if (oldest !== undefined && open.size >= OPEN_MAX) oldest.close();
    engines += 1;
    this.number = engines;
    const { startAt, pid } = this.call({ call: 'open', engine: this.number, eventsMax }) as OpenEngine;
    this.startAt = startAt;
    this.pid = pid;
    open.add(this);
  }

  /** Carries out orders one after the other, and rests after the last. */
  perform(orders: readonly EngineOrder[]): Rest {
    if (!this.isOpen)
      throw new ParleyError('internal', 'Cannot go on: this world was closed', {
        remedy: `at most ${OPEN_MAX} worlds on Temporal are open at once in a process, and another one was opened`,
      });
    return this.call({ call: 'perform', engine: this.number, orders }) as Rest;
  }

  /** A repeat does nothing. */
  close(): void {
    if (!this.isOpen) return;
    this.leave();
    try {
      this.call({ call: 'close', engine: this.number });
    } catch {
      kill(this.pid);
    }
  }

  private leave(): void {
    this.isOpen = false;
    open.delete(this);
  }

  private call(call: EngineCall): EngineValue {
    const from = performance.now();
    try {
      return caller().call(call, this.wallMs - this.usedMs);
    } catch (error) {
      // Whatever it hung on may hang for ever.
      if (error instanceof TookTooLong) this.giveUp();
      throw error instanceof TookTooLong ? tooLong(this.wallMs) : error;
    } finally {
      this.usedMs += performance.now() - from;
    }
  }

  private giveUp(): void {
    this.leave();
    kill(this.pid);
    caller().entities({ call: 'close', engine: this.number });
  }
}

export interface WaitingOptions {
  /** Real time that all calls together may take. */
  readonly wallMs: number;
  /** Events of a history before a run is continued as new; null: as a deployment has it. */
  readonly eventsMax: number | null;
}

class TookTooLong extends Error {}

const open = new Set<WaitingEngine>();
let engines = 0;
let theCaller: Caller | null = null;

/** One process for all engines of this one, started by the first. */
function caller(): Caller {
  return (theCaller ??= new Caller());
}

class Caller {
  private readonly port: MessagePort;
  private readonly replies = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  private number = 0;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    const program = builtProgram();
    const data: RelayData = { port: port2, replies: this.replies.buffer as SharedArrayBuffer, program };
    const worker = new Worker(program, { workerData: data, transferList: [port2], execArgv: [] });
    // Neither keeps the program alive that plays.
    worker.unref();
    this.port.unref();
  }

  /** @throws ParleyError as the engine does; TookTooLong */
  call(call: EngineCall, waitMs: number): EngineValue {
    const until = performance.now() + waitMs;
    const number = this.entities(call);
    for (;;) {
      const seen = Atomics.load(this.replies, 0);
      const reply = this.take(number);
      if (reply !== null) {
        if (reply.ok) return reply.value;
        throw errorOf(reply.failure);
      }
      const restMs = until - performance.now();
      if (restMs <= 0 || Atomics.wait(this.replies, 0, seen, restMs) === 'timed-out') throw new TookTooLong();
    }
  }

  /** Waits for nothing; returns the number of its reply. */
  entities(call: EngineCall): number {
    this.number += 1;
    this.port.postMessage({ number: this.number, call } satisfies NumberedCall);
    return this.number;
  }

  /** Replies to calls that were given up come late, and are dropped. */
  private take(number: number): NumberedReply['reply'] | null {
    for (;;) {
      const received = receiveMessageOnPort(this.port) as { readonly message: NumberedReply } | undefined;
      if (received === undefined) return null;
      if (received.message.number === number) return received.message.reply;
    }
  }
}

function tooLong(wallMs: number): ParleyError {
  const message = `Cannot play on Temporal: it takes more than ${Math.round(wallMs / 1_000)} s of real time`;
  return new ParleyError('internal', message, {
    remedy: 'play less virtual time, or play it on the simulator',
  });
}

function kill(pid: number | null): void {
  if (pid === null) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}

/** Beside this file when that is bundled, else where the build put it. */
function builtProgram(): string {
  for (let folder = import.meta.dirname; ; folder = path.dirname(folder)) {
    const found = [path.join(folder, PROGRAM), path.join(folder, 'dist', PROGRAM)].find(existsSync);
    if (found !== undefined) return found;
    if (path.dirname(folder) !== folder) continue;
    throw new ParleyError('engine_misconfigured', 'Cannot play on Temporal: a program is missing', {
      remedy: 'build it with "npm run build"',
    });
  }
}
