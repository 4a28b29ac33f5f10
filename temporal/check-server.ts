/**
 * Whether a Temporal server is there, has the namespace, and knows the search attributes.
 * Owns the order of the questions; every failure is one sentence with its remedy, within seconds.
 */
import { ParleyError } from '../core/parley-error.ts';
import { GRPC, grpcCode } from './grpc-code.ts';
import { findSearchAttributes, refuseMistyped } from './search-attributes.ts';
import type { TemporalServer } from './server-address.ts';
import { ask, askWhetherThere, openServerClient, type ServerConnection } from './server-client.ts';
import { serverProblem } from './server-problem.ts';

/** Names that an error lists; a server can have thousands of namespaces. */
const LISTED_MAX = 10;

/** @throws ParleyError engine_unreachable, engine_misconfigured, unauthorized, forbidden */
export async function checkServer(server: TemporalServer): Promise<void> {
  const connection = openServerClient(server);
  try {
    await askWhetherThere(connection);
    await requireNamespace(connection, server);
    await requireSearchAttributes(connection, server);
  } catch (error) {
    throw serverProblem(server, error);
  } finally {
    await connection.close();
  }
}

async function requireNamespace(connection: ServerConnection, server: TemporalServer): Promise<void> {
  const { namespace } = server;
  try {
    await ask(connection, () => connection.workflowService.describeNamespace({ namespace }));
  } catch (cause) {
    if (grpcCode(cause) !== GRPC.notFound) throw cause;
    const there = await listNamespaces(connection);
    const names = there.map((name) => `"${name}"`).join(', ');
    const known = there.length === 0 ? '' : `; it has ${names}`;
    const message = `Cannot use namespace "${namespace}": the Temporal server at ${server.address} has none of that name${known}`;
    throw new ParleyError('engine_misconfigured', message, {
      cause,
      remedy: `make it with ${registerCommand(server)}, or set engine.namespace`,
    });
  }
}

/** Empty when the server does not let us list them. */
async function listNamespaces(connection: ServerConnection): Promise<readonly string[]> {
  try {
    const { namespaces } = await ask(connection, () =>
      connection.workflowService.listNamespaces({ pageSize: LISTED_MAX }),
    );
    return namespaces
      .map(({ namespaceInfo }) => namespaceInfo?.name ?? '')
      .filter((name) => name !== '' && name !== 'temporal-system')
      .sort();
  } catch {
    return [];
  }
}

async function requireSearchAttributes(connection: ServerConnection, server: TemporalServer): Promise<void> {
  const { namespace } = server;
  const found = await findSearchAttributes(connection, namespace);
  if (found === null) return;
  refuseMistyped(namespace, found);
  if (found.missing.length === 0) return;
  const names = found.missing.map(({ name }) => name).join(', ');
  const message = `Cannot use namespace "${namespace}": it lacks the search attributes ${names}`;
  throw new ParleyError('engine_misconfigured', message, {
    remedy: `register them with ${registerCommand(server)}`,
  });
}

function registerCommand({ address, namespace }: TemporalServer): string {
  return `"parley temporal register --address ${address} --namespace ${namespace}"`;
}
