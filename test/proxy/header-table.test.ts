/** The header rule on the wire (D23): route × forwarding × where a header comes from. */
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { AGENT_KEY, PLAIN_KEY, send, SESSION_ID, startProxy, VENDOR } from './proxy-under-test.ts';
import { answerStream, startStubGateway, STREAM } from './stub-gateway.ts';

const ROUTES = ['/v1/chat/completions', '/chat/completions', '/v1/responses', '/v1/embeddings'] as const;
const SESSION = `x-${VENDOR}-session-id`;
const LONG = 'v'.repeat(8 * 1024);

/** What a client sends, and what the gateway sees of it while forwarding is on; null keeps it back. */
const CLIENT: readonly (readonly [name: string, value: string | string[], seen: string | null])[] = [
  ['x-team-id', 'search', 'search'],
  ['X-Mixed-Case', 'a', 'a'],
  ['x-long', LONG, LONG],
  ['x-twice', ['1', '2'], '1, 2'],
  [`x-${VENDOR}-spend-logs-metadata`, '{"a":"b"}', '{"a":"b"}'],
  [`x-${VENDOR}-tags`, 'a,b', 'a,b'],
  ['anthropic-beta', 'tools', 'tools'],
  ['anthropic-version', '2023-06-01', '2023-06-01'],
  ['x-stainless-os', 'Linux', null],
  ['x-stainless', '1', null],
  ['x-api-key', 'sk-planted-1', null],
  [`x-${VENDOR}-api-key`, 'sk-planted-2', null],
  ['x-session-api-key', 'sk-planted-3', null],
  ['x-access-token', 'sk-planted-4', null],
  ['x-goog-api-key', 'sk-planted-5', null],
  ['api-key', 'sk-planted-6', null],
  ['cookie', 'a=b', null],
  ['traceparent', '00-1-2-00', null],
  ['openai-organization', 'o', null],
  ['user-agent', 'SDK/1', null],
  ['te', 'trailers', null],
  ['keep-alive', 'timeout=5', null],
  ['proxy-authorization', 'Basic x', null],
  ['x-forwarded-for', '10.0.0.1', null],
  ['x-real-ip', '10.0.0.1', null],
  ['x-hop', 'only here', null],
];

/** Of the profile that an agent carries: sent with every call, over the SDK's own. */
const PROFILE = { 'x-user': 'ada', [SESSION]: 'ffffffffffffffffffffffffffffffff' };

describe.each(ROUTES)('%s', (path) => {
  describe.each([true, false])('with forwarding %s', (forward) => {
    it.each([false, true])('sends what the rule says, streamed %s', async (stream) => {
      const gateway = await startStubGateway(stream ? answerStream([STREAM]) : undefined);
      const settings = { forward_client_headers_to_llm_api: forward };
      const params = { extra_headers: { 'x-static': 'fixed', 'x-team-id': 'of the entry' } };
      const { url, rows } = await startProxy({ origin: gateway.origin, settings, params });
      const headers = {
        ...Object.fromEntries(CLIENT.map(([name, value]) => [name, value])),
        ...PROFILE,
        connection: 'close, X-Hop',
      };
      const body = JSON.stringify({ model: 'coder', messages: [], input: 'x', user: 'ada', stream });
      expect((await send({ url, path, headers, body })).status).toBe(200);
      const seen = gateway.seen[0]?.headers ?? {};
      expect(seen['x-static']).toBe('fixed');
      expect(seen['x-team-id']).toBe('of the entry');
      expect(seen[SESSION]).toBe(forward ? SESSION_ID : undefined);
      expect(seen['x-user']).toBe(forward ? 'ada' : undefined);
      for (const [name, , value] of CLIENT) {
        if (name === 'x-team-id' || name === 'user-agent') continue;
        expect([name, seen[name.toLowerCase()]]).toEqual([name, forward ? (value ?? undefined) : undefined]);
      }
      expect(seen['user-agent']).toBe('parley-proxy');
      expect(JSON.stringify(gateway.seen)).not.toContain('sk-planted');
      expect(JSON.stringify(gateway.seen)).not.toContain(AGENT_KEY);
      expect(JSON.parse(gateway.seen[0]?.body ?? '')).not.toHaveProperty('user');
      expect((await rows())[0]).toMatchObject({
        ...{ sessionId: SESSION_ID, user: 'ada', metadata: { a: 'b' }, tags: ['a', 'b'] },
      });
    });
  });
});

describe('a key that is bound to no conversation', () => {
  it('has its own session id forwarded and recorded', async () => {
    const gateway = await startStubGateway();
    const settings = { forward_client_headers_to_llm_api: true };
    const { url, rows } = await startProxy({ origin: gateway.origin, settings });
    await send({ url, key: PLAIN_KEY, headers: PROFILE });
    expect(gateway.seen[0]?.headers[SESSION]).toBe(PROFILE[SESSION]);
    expect((await rows())[0]?.sessionId).toBe(PROFILE[SESSION]);
  });
});

describe('a header that is no header', () => {
  it.each([
    ['a line break in a value', 'x-a: 1\n x: 2'],
    ['a bare carriage return', 'x-a: 1\rx-b: 2'],
    ['a null byte', 'x-a: \0'],
    ['a space in a name', 'x a: 1'],
    ['a body of two lengths', 'content-length: 3\r\ncontent-length: 4'],
  ])('is refused in the envelope: %s', async (_name, line) => {
    const gateway = await startStubGateway();
    const settings = { forward_client_headers_to_llm_api: true };
    const { url } = await startProxy({ origin: gateway.origin, settings });
    const reply = await raw(url, `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n${line}\r\n\r\n`);
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(reply).toContain('{"error":{"message":"Cannot read the request');
    expect(gateway.seen).toHaveLength(0);
  });
});

/** Sends bytes and resolves with all that came back when the proxy closes the connection. */
function raw(url: string, text: string): Promise<string> {
  const { port, hostname } = new URL(url);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}
