/**
 * The thread between a play that waits and the process that hosts its engines: a thread that waits receives no
 * messages, so another one has to listen for it.
 * Owns that process; must not know what a call means.
 */
import { fork } from 'node:child_process';
import { workerData, type MessagePort } from 'node:worker_threads';
import type { EngineCall, EngineReply } from './engine-call.ts';

export interface RelayData {
  readonly port: MessagePort;
  /** One integer: how many replies were posted. The waiting thread sleeps on it. */
  readonly replies: SharedArrayBuffer;
  /** The program that hosts engines. */
  readonly program: string;
}

export interface NumberedCall {
  readonly number: number;
  readonly call: EngineCall;
}

export interface NumberedReply {
  readonly number: number;
  readonly reply: EngineReply;
}

export function relayCalls(): void {
  const { port, replies, program } = workerData as RelayData;
  const count = new Int32Array(replies);
  const entities = (reply: NumberedReply): void => {
    port.postMessage(reply);
    Atomics.add(count, 0, 1);
    Atomics.notify(count, 0);
  };
  // Standard output belongs to the program that plays; errors go to standard error.
  const child = fork(program, [], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
    execArgv: [],
  });
  const waiting = new Set<number>();
  child.on('message', (message: NumberedReply) => {
    waiting.delete(message.number);
    entities(message);
  });
  child.once('exit', () => {
    for (const number of waiting) entities({ number, reply: ENDED });
  });
  port.on('message', (call: NumberedCall) => {
    waiting.add(call.number);
    if (child.connected) child.send(call);
    else entities({ number: call.number, reply: ENDED });
  });
}

const ENDED: EngineReply = {
  ok: false,
  failure: {
    code: 'internal',
    message: 'Cannot play on Temporal: the process that hosts the engine has ended',
    remedy: null,
  },
};
