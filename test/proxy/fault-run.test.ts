/** Faults on every side of the proxy under load: each call that was sent upstream has one row, and none has two (D26). */
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tempDir } from '../helpers/temp-dir.ts';
import { startProxyProcess, writeConfig } from './proxy-process.ts';
import { MASTER_KEY, send, startProxy, STREAM_BODY } from './proxy-under-test.ts';
import { answerJson, answerStream, REPLY, startStubGateway, STREAM, type Answer } from './stub-gateway.ts';

const TIMEOUT_MS = 180_000;
const CALLERS = 16;
/** Calls that must have reached the gateway before the proxy is killed. */
const CALLS_BEFORE_KILL = 300;

/** The gateway writes the call's number into its reply's id, so that a row can be joined with what was seen. */
function numbered(): { answer: Answer; seen: Set<string> } {
  const seen = new Set<string>();
  const answer: Answer = (res) => {
    const id = `resp-${seen.size}`;
    seen.add(id);
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(REPLY.replace('resp-1', id));
  };
  return { answer, seen };
}

describe('a proxy killed under load', () => {
  it(
    'has a row for each call that the gateway saw, and none twice, after the restart',
    async () => {
      const folder = tempDir();
      const { answer, seen } = numbered();
      const gateway = await startStubGateway(answer);
      writeConfig(folder, { origin: gateway.origin, names: ['coder'] });
      const first = await startProxyProcess(folder, { PARLEY_LOG_LEVEL: 'error' });
      let isKilled = false;
      const answered: string[] = [];
      const caller = async (): Promise<void> => {
        while (!isKilled) {
          const received = await send({ url: first.url, key: MASTER_KEY }).catch(() => null);
          if (received?.status === 200) answered.push((JSON.parse(received.body) as { id: string }).id);
        }
      };
      const load = Array.from({ length: CALLERS }, caller);
      await gateway.arrival(CALLS_BEFORE_KILL);
      await first.end('SIGKILL');
      isKilled = true;
      await Promise.all(load);

      const second = await startProxyProcess(folder, { PARLEY_LOG_LEVEL: 'error' });
      const rows = await second.rows();
      expect(new Set(rows.map((row) => row.callId)).size).toBe(rows.length);
      const joined = rows.flatMap((row) => row.responseId ?? []);
      expect(new Set(joined).size).toBe(joined.length);
      // A row for every call that was seen: with its id, or interrupted when its end was lost with the process.
      const interrupted = rows.filter((row) => row.state === 'interrupted').length;
      expect(joined.length + interrupted).toBeGreaterThanOrEqual(seen.size);
      expect(interrupted).toBeLessThanOrEqual(2 * CALLERS);
      expect(joined.every((id) => seen.has(id))).toBe(true);
      expect(rows.every((row) => row.state === 'succeeded' || row.state === 'interrupted')).toBe(true);
      expect(answered.length).toBeGreaterThan(CALLS_BEFORE_KILL - 2 * CALLERS);
      expect(await second.end('SIGTERM')).toBe(0);
    },
    TIMEOUT_MS,
  );
});

/** A gateway below HTTP: it answers what the test says, in bytes. */
async function startRawGateway(serve: (socket: Socket) => void): Promise<{ origin: string; server: Server }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

describe('a gateway that misbehaves', () => {
  it.each<[string, (socket: Socket) => void, number]>([
    ['hangs up at once', (socket) => socket.destroy(), 502],
    [
      'answers with what is no HTTP',
      (socket) => void socket.on('data', () => socket.end('\0\xffgarbage\r\n\r\n')),
      502,
    ],
    [
      'answers with half a head',
      (socket) => void socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\ncont')),
      502,
    ],
    ['breaks its chunks', (socket) => void socket.on('data', () => socket.end(`${HEAD}zz\r\n{}\r\n`)), 502],
    ['never answers', () => undefined, 504],
    [
      'ends in its first frame',
      (socket) => void socket.on('data', () => socket.end(`${HEAD}6\r\ndata: \r\n`)),
      502,
    ],
  ])('and %s gives the caller an answer and the call a row', async (_name, serve, status) => {
    const { origin } = await startRawGateway(serve);
    const { url, rows, proxy } = await startProxy({ origin, params: { timeout: 1 } });
    const received = await Promise.all([1, 2, 3].map(() => send({ url, body: STREAM_BODY })));
    expect(received.map((one) => one.status)).toEqual([status, status, status]);
    for (const one of received) expect(one.json().error.message).toContain('Cannot complete the call');
    expect((await rows()).map((row) => row.state)).toEqual(['failed', 'failed', 'failed']);
    expect(proxy.metrics().callsInFlight).toBe(0);
  });

  it('and dies in the middle of streams leaves one row each, and the proxy serves on', async () => {
    const gateway = await startStubGateway(
      answerStream([STREAM.slice(0, 150), STREAM.slice(150, 170)], 'destroy'),
    );
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const received = await Promise.all(Array.from({ length: 20 }, () => send({ url, body: STREAM_BODY })));
    for (const one of received) {
      expect(one.body).not.toContain('[DONE]');
      expect(one.body.match(/gateway_failed/g)).toHaveLength(1);
    }
    gateway.answer = answerJson(200, REPLY);
    expect((await send({ url })).status).toBe(200);
    const states = (await rows()).map((row) => row.state);
    expect(states).toEqual([...Array<string>(20).fill('failed'), 'succeeded']);
  });
});

describe('a store that is away while calls go on', () => {
  it('gets every row once when it is back', async () => {
    const gateway = await startStubGateway();
    const { url, spend, rows } = await startProxy({ origin: gateway.origin });
    spend.isAway = true;
    for (let i = 0; i < 10; i += 1)
      await Promise.all(
        Array.from({ length: 20 }, () => send({ url }).then((one) => expect(one.status).toBe(200))),
      );
    spend.isAway = false;
    const all = await rows();
    expect(new Set(all.map((row) => row.callId)).size).toBe(200);
    expect(all).toHaveLength(200);
    expect(all.every((row) => row.state === 'succeeded')).toBe(true);
  });
});
