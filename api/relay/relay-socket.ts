/**
 * WebSockets of an Agent Server through the relay: bytes both ways, once the sandbox is up.
 * Owns the tunnel. The key is in a frame or header that the Agent Server itself checks; a wrong header is refused here.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { reachableAgent } from '../../activities/agent-target.ts';
import { sandboxId as asSandboxId } from '../../core/ids.ts';
import { asParleyError, ParleyError } from '../../core/parley-error.ts';
import type { Application } from '../application/application.ts';
import { sessionCaller } from '../application/authentication.ts';
import { refuseUpgrade } from '../application/refuse-upgrade.ts';

const PATH = /^\/sandboxes\/([0-9a-fA-F-]{32,36})\/agent(\/sockets\/.*)$/;
/** Belongs to the connection with us, or is a key of ours (D20). */
const LEFT_BEHIND = new Set(['host', 'authorization', 'cookie']);
const OF_A_WEBSOCKET = [
  'connection',
  'upgrade',
  'sec-websocket-accept',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
] as const;

export function relaySocket(application: Application) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer): boolean => {
    const match = PATH.exec(request.url ?? '');
    if (match === null) return false;
    const [, id = '', path = '/'] = match;
    connect(application, request, id)
      .then((agent) => tunnel({ request, socket, head, agent, path }))
      .catch((error: unknown) => refuseUpgrade(socket, asParleyError(error).status, 'Refused'));
    return true;
  };
}

async function connect(application: Application, request: IncomingMessage, id: string): Promise<Duplex> {
  const { world, relay } = application;
  const key = request.headers['x-session-api-key'];
  if (typeof key === 'string') await sessionCaller(application, id, key);
  const sandbox = await world.records.sandbox(asSandboxId(id));
  if (sandbox?.available !== true) throw new ParleyError('not_found', 'Not Found');
  const { sandboxId, generation } = sandbox;
  const { address } = await reachableAgent(world, { sandboxId, generation });
  return await relay.connect(address);
}

interface Tunnel {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly agent: Duplex;
  readonly path: string;
}

/** Nothing of the answer passes before it is one to a WebSocket: else it could be a page of our origin (D31). */
function tunnel({ request, socket, head, agent, path }: Tunnel): void {
  const { rawHeaders } = request;
  const headers = ['host', 'agent'];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!LEFT_BEHIND.has(name.toLowerCase())) headers.push(name, rawHeaders[at + 1] ?? '');
  }
  const call = httpRequest({ createConnection: () => agent as never, method: 'GET', path, headers });
  // Who left while the way to the agent was made says so no more.
  if (socket.destroyed) return void agent.destroy();
  agent.on('error', () => socket.destroy());
  socket.on('close', () => agent.destroy());
  agent.on('close', () => socket.destroy());
  call.on('error', () => socket.destroy());
  call.once('response', ({ statusCode = 0 }) => {
    refuseUpgrade(socket, statusCode >= 400 && statusCode < 600 ? statusCode : 502, 'Refused');
    agent.destroy();
  });
  call.once('upgrade', (answer, _agent, first) => {
    const passed = OF_A_WEBSOCKET.map((name) => [name, answer.headers[name]] as const)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}: ${String(value)}\r\n`);
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${passed.join('')}\r\n`);
    if (first.length > 0) socket.write(first);
    if (head.length > 0) agent.write(head);
    agent.pipe(socket);
    socket.pipe(agent);
  });
  call.end();
}
