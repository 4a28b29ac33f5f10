/**
 * A light connection for querying a server about itself: no worker, no retries, a bound on every answer.
 * Owns the bound; what the answers mean is decided by the caller.
 */
import { Connection } from '@temporalio/client';
import { connectionOptions, type TemporalServer } from './server-address.ts';

/** A server that is there answers in milliseconds; a user waits this long for the error that there is none. */
const FIRST_ANSWER_MS_MAX = 5_000;
/** One that has answered is there, and may be busy: the later requests can wait for a workflow of their own. */
const ANSWER_MS_MAX = 30_000;
/** How soon a server that refused is tried again: the dev server takes a second to start. */
const RECONNECT_MS = 100;

/** The part of a connection that the checks use; the client's and the worker's both have it. */
export type ServerConnection = Pick<Connection, 'workflowService' | 'operatorService' | 'withDeadline'>;

/** Opens nothing by itself: the first request connects. */
export function openServerClient(server: Omit<TemporalServer, 'namespace'>): Connection {
  return Connection.lazy({
    ...connectionOptions({ ...server, namespace: '' }),
    // Without the default interceptor, which repeats for longer than the bound.
    interceptors: [],
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': RECONNECT_MS,
      'grpc.max_reconnect_backoff_ms': RECONNECT_MS,
    },
  });
}

/** The first request: whether a server is there. @throws the error of gRPC, DEADLINE_EXCEEDED after 5 s */
export async function askWhetherThere(
  connection: Pick<ServerConnection, 'workflowService' | 'withDeadline'>,
): Promise<void> {
  await connection.withDeadline(Date.now() + FIRST_ANSWER_MS_MAX, () =>
    connection.workflowService.getSystemInfo({}),
  );
}

/** Any other request. @throws the error of gRPC, DEADLINE_EXCEEDED after 30 s */
export function ask<Answer>(
  connection: Pick<ServerConnection, 'withDeadline'>,
  question: () => Promise<Answer>,
): Promise<Answer> {
  return connection.withDeadline(Date.now() + ANSWER_MS_MAX, question);
}
