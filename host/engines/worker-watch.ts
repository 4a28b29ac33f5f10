/**
 * Whether anybody carries out what a process asks of the engine on Temporal: without a worker it would wait in silence.
 * Owns when it is looked and what is said; must not start a worker.
 */
import { tsToMs } from '@temporalio/common/lib/time.js';
import { ask, type ServerConnection } from '../../temporal/server-client.ts';

/** A worker that has just started has asked for work by then, and a person still wonders. */
const FIRST_POLL_MS = 5_000;
const POLL_EVERY_MS = 15_000;
/** A worker asks anew each minute; the server lists one that has gone for some minutes more. */
const ASKED_WITHIN_MS = 75_000;

export interface WorkerWatchOptions {
  /** Name of the queue of workflows. */
  readonly queue: string;
  readonly hasWorker: () => Promise<boolean>;
  readonly onNotice: (text: string) => void;
}

/** Says once for each time that there is no worker; returns what ends it. */
export function watchForWorkers({ queue, hasWorker, onNotice }: WorkerWatchOptions): () => void {
  let isMissing = false;
  let isOver = false;
  let timer = setTimeout(poll, FIRST_POLL_MS);
  function poll(): void {
    // A server that does not answer is a trouble of its own, and told by whoever needs the answer.
    const looking = hasWorker().catch(() => !isMissing);
    void looking.then((has) => {
      if (isOver) return;
      if (!has && !isMissing) onNotice(missing(queue));
      isMissing = !has;
      timer = setTimeout(poll, POLL_EVERY_MS);
    });
  }
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

function missing(queue: string): string {
  return `nobody carries this out: no worker asks for work on the queue "${queue}"; start one with "parley worker"`;
}

export interface AskedQueue {
  readonly connection: Pick<ServerConnection, 'workflowService' | 'withDeadline'>;
  readonly namespace: string;
  readonly queue: string;
}

/** @throws the error of gRPC */
export async function hasWorker({ connection, namespace, queue }: AskedQueue): Promise<boolean> {
  const { pollers } = await ask(connection, () =>
    connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: queue } }),
  );
  const since = Date.now() - ASKED_WITHIN_MS;
  return (pollers ?? []).some(({ lastAccessTime }) => tsToMs(lastAccessTime) > since);
}
