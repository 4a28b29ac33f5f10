/** 10,000 requests that no client should send: each is refused with 4xx, none hangs, and none reveals a secret. */
import fc from 'fast-check';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { AGENT_KEY, GATEWAY_KEY, MASTER_KEY, startProxy } from './proxy-under-test.ts';
import { answerJson, startStubGateway } from './stub-gateway.ts';

const REQUESTS = 10_000;
const AT_ONCE = 50;
const TIMEOUT_MS = 240_000;
/** A prompt and a key that must be found nowhere. */
const PROMPT = 'planted-prompt-5f1c';

const PATHS = [
  ...['/v1/chat/completions', '/chat/completions', '/v1/responses', '/v1/embeddings', '/model/new'],
  ...[
    '/model/delete',
    '/key/generate',
    '/engines/none/chat/completions',
    '/openai/deployments/%ff/embeddings',
  ],
];

/** A body that breaks JSON or a rule of every route: cut, spliced or of the wrong shape. */
const valid = JSON.stringify({ model: 'coder', messages: [{ role: 'user', content: PROMPT }], user: 'u' });
const cutBody = fc.integer({ min: 0, max: valid.length - 1 }).map((at) => valid.slice(0, at));
const brokenBody = fc
  .tuple(fc.integer({ min: 1, max: 15 }), fc.constantFrom('}', '"', '\\', ',', '\u0000', ']', ':'))
  .map(([at, text]) => `${valid.slice(0, at)}${text}${valid.slice(at)}`)
  .filter((text) => !parses(text));
const wrongShape = fc
  .oneof(
    fc.jsonValue().filter((value) => typeof value !== 'object' || value === null || Array.isArray(value)),
    fc.record({
      model: fc.oneof(fc.constant(null), fc.integer(), fc.constant(''), fc.constant('http://x/y')),
    }),
    fc.record({ model: fc.string({ minLength: 20 }), messages: fc.constant([]) }),
    fc.record({
      model: fc.constant('coder'),
      messages: fc.constantFrom(null, 7, 'x', {}),
      input: fc.constant(null),
    }),
  )
  .map((value) => JSON.stringify(value));
const binary = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const huge = fc.integer({ min: 1_000, max: 60_000 }).map((depth) => '['.repeat(depth));
const body = fc.oneof(cutBody, brokenBody, wrongShape, binary, huge);

const header = fc.oneof(
  fc.constant(''),
  fc.string({ maxLength: 30 }).map((text) => `x-a: ${text.replaceAll(/[\r\n\0]/g, '')}\r\n`),
  fc.integer({ min: 1, max: 40 * 1024 }).map((length) => `x-long: ${'v'.repeat(length)}\r\n`),
  fc.constantFrom('x a: 1\r\n', ': 1\r\n', 'x-\u0001: 1\r\n', 'expect: never\r\n', 'content-type: x\r\n'),
);
const path = fc.oneof(
  fc.constantFrom(...PATHS),
  fc.webPath().map((text) => `/${text}`),
  fc.constantFrom('/%', '//', '/v1/models/%E0%A4%A', '/spend/logs?from=x', '/v1/../etc', '*', 'x', '/a b'),
);
const request = fc.record({
  method: fc.constantFrom('POST', 'POST', 'POST', 'PUT', 'PATCH', 'BREW'),
  path,
  header,
  body,
  key: fc.constantFrom(AGENT_KEY, AGENT_KEY, MASTER_KEY, 'sk-none', ''),
});
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never;

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('malformed requests', () => {
  it(
    'are refused with 4xx, and their texts and keys are in no reply, log, row or metric',
    async () => {
      const gateway = await startStubGateway(answerJson(400, '{"error":{"message":"no"}}'));
      const { url, rows, logged, proxy } = await startProxy({ origin: gateway.origin });
      const requests = fc.sample(request, { numRuns: REQUESTS, seed: 20_261_122 });
      const replies: string[] = [];
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let one = requests[next]; one !== undefined; one = requests[next]) {
          next += 1;
          const reply = await exchange(url, one);
          replies.push(reply);
          const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(reply)?.[1]);
          if (!(status >= 400 && status < 500))
            throw new Error(`${status} for ${JSON.stringify(one)}: ${reply}`);
          expect(reply).toContain('{"error":{"message":"');
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      expect(replies).toHaveLength(REQUESTS);
      // Nested text is the gateway's to refuse, and a call of responses has no member that it must have.
      const passed = gateway.seen.filter((seen) => parses(seen.body) && seen.url !== '/v1/responses');
      expect(passed).toEqual([]);
      const all = await rows();
      expect(all).toHaveLength(gateway.seen.length);
      expect(all.every((row) => row.state === 'failed')).toBe(true);
      expect(proxy.metrics().callsInFlight).toBe(0);
      const kept = `${replies.join('\n')}${logged.join('\n')}${JSON.stringify([proxy.metrics(), all])}`;
      for (const secret of [PROMPT, AGENT_KEY, MASTER_KEY, GATEWAY_KEY])
        expect(kept.includes(secret)).toBe(false);
    },
    TIMEOUT_MS,
  );
});

/** One connection each, because a broken request ends its connection. */
function exchange(url: string, one: Request): Promise<string> {
  const { port, hostname } = new URL(url);
  const content = Buffer.from(one.body, 'latin1');
  const head = `${one.method} ${one.path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${one.key}\r\nconnection: close\r\n${one.header}`;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket: Socket = connect(Number(port), hostname, () => {
      socket.write(`${head}content-length: ${content.length}\r\n\r\n`, 'latin1');
      socket.write(content);
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    // A proxy that refuses early may reset what is still being sent; the reply has come by then.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}
