/**
 * What is no route of the table: streams of events, and the Agent Server's own surface behind a sandbox's address.
 * Owns who handles a request to become a WebSocket; what is said over one is decided in its own folder.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { eventSocket } from '../events/event-socket.ts';
import { registerEventStream } from '../events/event-stream.ts';
import { openPartialFeeds } from '../events/partial-feed.ts';
import { registerAgentRelay } from '../relay/agent-relay.ts';
import { relaySocket } from '../relay/relay-socket.ts';
import type { Application } from './application.ts';
import type { Gate } from './gate.ts';
import { registerRunStream } from '../runs/run-stream.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';

/** Takes the socket when the address is its own; false leaves it to others. */
type SocketHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;

export function extendApplication(application: Application): (app: FastifyInstance, gate: Gate) => void {
  return (app, gate) => {
    const streams = { application, gate, partials: openPartialFeeds(application) };
    registerEventStream(app, streams);
    registerRunStream(app, application, gate);
    registerAgentRelay(app, application, gate);
    const handlers: readonly SocketHandler[] = [eventSocket(streams), relaySocket(application)];
    // What has become a WebSocket is no connection of the server any more, and would hold its end.
    const open = new Set<Duplex>();
    app.addHook('preClose', (done) => {
      for (const socket of open) socket.destroy();
      done();
    });
    app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      socket.on('error', () => socket.destroy());
      if (handlers.some((handle) => handle(request, socket, head))) return;
      refuseUpgrade(socket, 404, 'Not Found');
    });
  };
}
