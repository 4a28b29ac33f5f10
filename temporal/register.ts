/**
 * Makes a server ready for Parley: the namespace, then its search attributes.
 * Owns the order and what is reported; a repeat changes nothing.
 */
import { msToTs } from '@temporalio/common/lib/time.js';
import { GRPC, grpcCode } from './grpc-code.ts';
import { registerSearchAttributes } from './search-attributes.ts';
import type { TemporalServer } from './server-address.ts';
import { ask, askWhetherThere, openServerClient, type ServerConnection } from './server-client.ts';
import { serverProblem } from './server-problem.ts';

export interface Registration extends TemporalServer {
  /** How long closed workflows of a namespace that is made here can be looked at. */
  readonly retentionDays: number;
}

/** What registering changed at a server. */
export interface Registered {
  readonly namespaceCreated: boolean;
  /** Names that were registered now. */
  readonly searchAttributes: readonly string[];
}

/** Every service of a cluster learns of a new namespace within its refresh of 10 s, and some slack. */
const NAMESPACE_KNOWN_MS_MAX = 15_000;
const NAMESPACE_POLL_MS = 250;
const DAY_MS = 86_400_000;

/** @throws ParleyError engine_unreachable, engine_misconfigured, unauthorized, forbidden */
export async function registerOnServer(registration: Registration): Promise<Registered> {
  const connection = openServerClient(registration);
  try {
    await askWhetherThere(connection);
    const namespaceCreated = await ensureNamespace(connection, registration);
    const searchAttributes = await whenKnown(() =>
      registerSearchAttributes(connection, registration.namespace),
    );
    return { namespaceCreated, searchAttributes };
  } catch (error) {
    throw serverProblem(registration, error);
  } finally {
    await connection.close();
  }
}

/** True when it was made now. @throws the error of gRPC */
async function ensureNamespace(
  connection: ServerConnection,
  { namespace, retentionDays }: Registration,
): Promise<boolean> {
  const { workflowService } = connection;
  try {
    await ask(connection, () => workflowService.describeNamespace({ namespace }));
    return false;
  } catch (error) {
    if (grpcCode(error) !== GRPC.notFound) throw error;
  }
  const workflowExecutionRetentionPeriod = msToTs(retentionDays * DAY_MS);
  try {
    await ask(connection, () =>
      workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod }),
    );
    return true;
  } catch (error) {
    // Another process was faster.
    if (grpcCode(error) === GRPC.alreadyExists) return false;
    throw error;
  }
}

/** Tries again while the server does not know the namespace that it has just made. */
async function whenKnown<Answer>(attempt: () => Promise<Answer>): Promise<Answer> {
  const untilMs = Date.now() + NAMESPACE_KNOWN_MS_MAX;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (grpcCode(error) !== GRPC.notFound || Date.now() > untilMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, NAMESPACE_POLL_MS));
  }
}
