/**
 * The ways that lead from pods to us.
 * Owns opening them in this process, where it serves them, and finding the addresses behind their names: a sandbox
 * resolves no name, so it is given addresses.
 */
import { lookup } from 'node:dns/promises';
import { connect, createServer, isIP, type Socket } from 'node:net';
import { ParleyError } from '../../core/parley-error.ts';
import { BOUND_PORTS, EGRESS_PORT } from '../on-host/inside-view.ts';
import type { PodRoutes, RouteGates } from './options.ts';

/** Connections of all sandboxes at once on one way; more wait in the kernel's queue. */
const CONNECTIONS_MAX = 4_096;

/** @throws ParleyError runtime_unreachable: a name has no address now; runtime_failed: it is not HOST:PORT */
export async function resolveRoutes(routes: PodRoutes): Promise<PodRoutes> {
  const { proxy, webhook, git, egress } = routes;
  const [proxyAt, webhookAt, gitAt, egressAt] = await Promise.all([
    resolve(proxy),
    resolve(webhook),
    resolve(git),
    egress === null ? null : resolve(egress),
  ]);
  return { proxy: proxyAt, webhook: webhookAt, git: gitAt, egress: egressAt };
}

async function resolve(route: string): Promise<string> {
  const match = /^\[?([^/[\]]+?)\]?:(\d{1,5})$/.exec(route);
  const [host, port] = [match?.[1], match?.[2]];
  if (host === undefined || port === undefined) {
    throw new ParleyError('runtime_failed', `Cannot lead sandboxes to "${route}": it is not HOST:PORT`);
  }
  if (isIP(host) !== 0) return route;
  try {
    const { address, family } = await lookup(host);
    return family === 6 ? `[${address}]:${port}` : `${address}:${port}`;
  } catch (cause) {
    const remedy = 'name a service of the cluster in runtime.kubernetes.service';
    const message = `Cannot lead sandboxes to "${route}": the name has no address`;
    throw new ParleyError('runtime_unreachable', message, { cause, remedy });
  }
}

/**
 * Opens each way once; they go on until this process ends, and do not keep it from ending.
 * @throws ParleyError runtime_failed: a port is taken
 */
export async function openGates({ listen, hostSockets, egressSocket }: RouteGates): Promise<void> {
  const ways = [
    [BOUND_PORTS.proxy, hostSockets.proxy],
    [BOUND_PORTS.webhook, hostSockets.webhook],
    [BOUND_PORTS.git, hostSockets.git],
    ...(egressSocket === null ? [] : [[EGRESS_PORT, egressSocket] as const]),
  ] as const;
  await Promise.all(ways.map(([port, socketPath]) => openGate({ listen, port, socketPath })));
}

function openGate(gate: {
  readonly listen: string;
  readonly port: number;
  readonly socketPath: string;
}): Promise<void> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (outer) => {
    join(outer, connect({ path: gate.socketPath, allowHalfOpen: true }));
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.unref();
  return new Promise((resolvePromise, reject) => {
    server.on('error', (cause) => {
      const message = `Cannot open port ${gate.port} for sandboxes: ${cause.message}`;
      reject(
        new ParleyError('runtime_failed', message, { cause, remedy: 'end the other process that has it' }),
      );
    });
    server.listen(gate.port, gate.listen, () => resolvePromise());
  });
}

/** `pipe` ends the other side's writing half when one side ends, and waits while the other side is full. */
function join(one: Socket, other: Socket): void {
  for (const [here, there] of [
    [one, other],
    [other, one],
  ] as const) {
    here.on('error', () => there.destroy());
    here.on('close', (hadError) => {
      if (hadError || !here.readableEnded) there.destroy();
    });
    here.pipe(there);
  }
}
