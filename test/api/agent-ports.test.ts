/** Addresses of their own for Agent Servers: what comes in there reaches the relay at the path it knows. */
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { openAgentPorts, type AgentPorts } from '../../api/relay/agent-ports.ts';
import { sandboxId } from '../../core/ids.ts';

/** A loaded machine takes its time. */
const PATIENT = { timeout: 20_000 };
const A = sandboxId('0af7651916cd43dd8448eb211c80319c');
const B = sandboxId('1af7651916cd43dd8448eb211c80319c');

/** A relay that says which path it was asked for. */
async function open(): Promise<AgentPorts> {
  const relay: Server = createServer((request, response) => void response.end(request.url));
  const sockets = new WebSocketServer({ noServer: true });
  relay.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (client) => client.send(request.url ?? ''));
  });
  const ports = await openAgentPorts(relay, '127.0.0.1');
  onTestFinished(() => ports.close());
  return ports;
}

describe('openAgentPorts()', () => {
  it('gives each sandbox an address without a path, the same each time', async () => {
    const ports = await open();
    const first = ports.urlOf(A, '/sandboxes/a/agent') ?? '';
    expect(first).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(ports.urlOf(B, '/sandboxes/b/agent')).not.toBe(first);
    expect(ports.urlOf(A, '/sandboxes/a/agent')).toBe(first);
  });

  it('leads calls and WebSockets to the path of the relay, and nothing else', async () => {
    const ports = await open();
    const url = ports.urlOf(A, '/sandboxes/a/agent') ?? '';
    expect(await (await fetch(`${url}/api/x?y=1`)).text()).toBe('/sandboxes/a/agent/api/x?y=1');
    const socket = new WebSocket(`${url.replace('http', 'ws')}/sockets/events/1`);
    const said = await new Promise((resolve) =>
      socket.once('message', (data: Buffer) => resolve(data.toString('utf8'))),
    );
    expect(said).toBe('/sandboxes/a/agent/sockets/events/1');
    // An open WebSocket does not hold the close.
    await ports.close();
    await expect(fetch(url)).rejects.toThrow();
  });

  it('answers in HTTP/1.1 whoever offers HTTP/2', async () => {
    const url = (await open()).urlOf(A, '/sandboxes/a/agent') ?? '';
    const offer = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${url}/alive`, { headers: offer }, resolve).on('error', reject);
    });
    expect([answer.statusCode, await text(answer)]).toEqual([200, '/sandboxes/a/agent/alive']);
  });

  it('takes more sandboxes at once than ports were open, or says that there is none yet', async () => {
    const ports = await open();
    const idOf = (index: number) => sandboxId(index.toString(16).padStart(32, '0'));
    const given = Array.from({ length: 12 }, (_, index) => ports.urlOf(idOf(index), '/p'));
    const urls = given.filter((url) => url !== null);
    expect([urls.length, new Set(urls).size]).toEqual([8, 8]);
    await expect.poll(() => ports.urlOf(idOf(11), '/p'), PATIENT).toMatch(/^http/);
  });
});
