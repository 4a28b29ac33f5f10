/**
 * The one connection of a process to its Temporal server, for worker and client alike.
 * Owns the way in: the server is checked first, so that a wrong setting is a sentence and not a stack trace.
 */
import type { NativeConnection } from '@temporalio/worker';
import { checkServer } from './check-server.ts';
import { connectionOptions, type TemporalServer } from './server-address.ts';
import { serverProblem, unreachable } from './server-problem.ts';

/** The server has just answered the checks, and may be busy; one that takes longer now is as good as gone. */
const CONNECT_MS_MAX = 30_000;

/**
 * Connects to a server that answers, has the namespace and knows the search attributes. Close it after its workers.
 * @throws ParleyError engine_unreachable, engine_misconfigured, unauthorized, forbidden; each with its remedy
 */
export async function connectTemporal(server: TemporalServer): Promise<NativeConnection> {
  await checkServer(server);
  // Loaded here, because the package holds a native library and most commands never need it.
  const { NativeConnection } = await import('@temporalio/worker');
  const connecting = NativeConnection.connect(connectionOptions(server));
  try {
    return await within(connecting, server);
  } catch (error) {
    throw serverProblem(server, error);
  }
}

/** A connection that comes too late is closed: no caller waits for it any more. */
function within(
  connecting: Promise<NativeConnection>,
  { address }: TemporalServer,
): Promise<NativeConnection> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(unreachable(address, { cause: undefined, because: 'there is no answer' }));
      connecting.then(
        (late) => late.close(),
        () => undefined,
      );
    }, CONNECT_MS_MAX);
    connecting.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
