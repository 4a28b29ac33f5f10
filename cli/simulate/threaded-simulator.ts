/**
 * The simulator of a service: each play on a thread of its own, one after the other.
 * Owns the threads, their memory and their end. A thread, because a play of many conversations is seconds of work that
 * would hold up every other answer; it begins faster than a process, and is ended as surely.
 */
import { Worker } from 'node:worker_threads';
import type { JobSimulation, JobSimulator, SimulatedJob } from '../../api/jobs/job-simulator.ts';
import type { ErrorCode } from '../../core/error-catalogue.ts';
import { ParleyError } from '../../core/parley-error.ts';

/** A play that has taken so long is cut off, and shown up to there. */
export const PLAY_MS_MAX = 30_000;
/** One that does not notice by itself is ended, before what stands between it and a browser gives up. */
const THREAD_MS_MAX = PLAY_MS_MAX + 15_000;
/** Ten thousand conversations take a third of it. */
const HEAP_MB_MAX = 1_024;
/** A further request would wait for longer than a person does. */
const WAITING_MAX = 4;
const RETRY_AFTER_S = 20;

export interface PlayerData {
  readonly job: SimulatedJob;
  readonly form: 'figures' | 'page';
}

export type PlayerSaying =
  | { readonly said: 'simulation'; readonly simulation: JobSimulation }
  | { readonly said: 'page'; readonly page: string }
  | {
      readonly said: 'error';
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: ParleyError['details'];
      readonly remedy: string | null;
    };

/** `program` is plan-player.ts, built. */
export function createJobSimulator(program: string): JobSimulator {
  const turns = oneAfterTheOther();
  const play = (data: PlayerData, signal: AbortSignal): Promise<PlayerSaying> =>
    turns(signal, () => onThread(program, data, signal));
  return {
    async simulate(job, signal) {
      const saying = await play({ job, form: 'figures' }, signal);
      if (saying.said === 'simulation') return saying.simulation;
      throw unexpected(saying);
    },
    async page(job, signal) {
      const saying = await play({ job, form: 'page' }, signal);
      if (saying.said === 'page') return saying.page;
      throw unexpected(saying);
    },
  };
}

function unexpected(saying: PlayerSaying): Error {
  if (saying.said !== 'error') return new Error(`Cannot simulate: the thread answered with a ${saying.said}`);
  const { code, message, details, remedy } = saying;
  return new ParleyError(code, message, { details, ...(remedy === null ? {} : { remedy }) });
}

/** A play takes a whole core, and the engine is to have the others. */
function oneAfterTheOther() {
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();
  return async <Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> => {
    if (waiting > WAITING_MAX)
      throw new ParleyError('rate_limited', 'Cannot simulate now: other jobs are played before', {
        details: { retry_after: RETRY_AFTER_S },
      });
    const before = last;
    let done: () => void = () => undefined;
    const mine = new Promise<void>((resolve) => (done = resolve));
    last = before.then(() => mine);
    waiting += 1;
    try {
      await Promise.race([before, gone(signal)]);
      return await work();
    } finally {
      waiting -= 1;
      done();
    }
  };
}

/** @throws ParleyError request_timeout once the caller has left */
function gone(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const leave = (): void =>
      reject(new ParleyError('request_timeout', 'Cannot simulate: whoever asked has left'));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}

async function onThread(program: string, data: PlayerData, signal: AbortSignal): Promise<PlayerSaying> {
  const thread = new Worker(program, {
    workerData: data,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
  });
  const answer = new Promise<PlayerSaying>((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', (error) => reject(failureOf(error)));
    thread.once('exit', () => reject(tooMuch('its thread has ended')));
  });
  const timer = setTimeout(() => void thread.terminate(), THREAD_MS_MAX);
  try {
    return await Promise.race([answer, gone(signal)]);
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

function failureOf(error: Error): Error {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? tooMuch('it needs more memory than a play may have')
    : error;
}

function tooMuch(what: string): ParleyError {
  return new ParleyError('out_of_resources', `Cannot simulate: ${what}`, {
    remedy: 'use "parley simulate", or play fewer conversations',
  });
}
