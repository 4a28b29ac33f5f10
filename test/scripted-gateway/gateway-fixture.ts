// What the tests of the scripted gateway share: a small script, a listening server in this process, and calls to it.
// It must not assert anything.

import type { AddressInfo } from 'node:net';

import { onTestFinished } from 'vitest';

import { AnsweredErrors } from '../../scripted-gateway/gateway-context.ts';
import { openKeyRing } from '../../scripted-gateway/key-ring.ts';
import { openLedger } from '../../scripted-gateway/ledger.ts';
import type { Ledger } from '../../scripted-gateway/ledger.ts';
import { parseScript } from '../../scripted-gateway/script/parse-script.ts';
import { formatProblem } from '../../scripted-gateway/script/problem.ts';
import type { GatewayScript } from '../../scripted-gateway/script/script.ts';
import { createServer } from '../../scripted-gateway/server.ts';

export const header = `kind: gateway-script
version: 1
keys:
  - { key: sk-admin, name: root, admin: true }
  - { key: sk-team, name: team, models: [vendor/small], tags: [blue, shared] }
  - { key: sk-free, name: free }
models:
  vendor/small: { input: 0.15, output: "0.60" }
  vendor/large: { input: "2.50", output: 10 }
`;

export const sampleScript = `${header}scripts:
  - name: fix
    when: { contains: fix the bug }
    turns:
      - say: Looking.
        tool: terminal
        arguments: { command: ls }
      - status: 429
        message: slow down
        retry_after: 2
      - tools:
          - { tool: editor, arguments: { path: a.txt, text: "héllo\\nworld 🙂" } }
          - { tool: terminal }
        usage: { prompt: 1000, completion: 10 }
      - say: Fixed it.
  - name: other
    turns:
      - say: Hello.
`;

/** The script of a text that is known to be right. */
export function scriptOf(text: string, readFile: (path: string) => string = () => ''): GatewayScript {
  const { script, problems } = parseScript(text, 'script.yaml', readFile);
  if (script === null) throw new Error(problems.map(formatProblem).join('\n'));
  return script;
}

export interface TestGateway {
  readonly url: string;
  readonly ledger: Ledger;
  /** Sets the time that the next calls see. */
  readonly setNow: (nowMs: number) => void;
}

/** A server on a free port of loopback, closed when the running test ends. Time stands still until it is set. */
export async function startGateway(
  text = sampleScript,
  options: {
    readonly ledger?: Ledger;
    readonly readFile?: (path: string) => string;
    readonly sleep?: (delayMs: number, signal: AbortSignal) => Promise<void>;
  } = {},
): Promise<TestGateway> {
  const script = scriptOf(text, options.readFile);
  const ledger = options.ledger ?? (await openLedger(null));
  let nowMs = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
  let lastId = 0;
  const server = createServer({
    script,
    ring: openKeyRing(script, {}).ring,
    ledger,
    answeredErrors: new AnsweredErrors(),
    nowMs: () => nowMs,
    randomId: () => `id${(lastId += 1)}`,
    sleep: options.sleep ?? (() => Promise.resolve()),
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => server.close());
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    ledger,
    setNow: (value) => {
      nowMs = value;
    },
  };
}

/** A user message, the usual whole history. */
export function user(content: string) {
  return { role: 'user', content };
}

/** Posts a chat completion. */
export function chat(
  url: string,
  body: unknown,
  options: {
    readonly key?: string;
    readonly headers?: Record<string, string>;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${options.key ?? 'sk-admin'}`,
      'content-type': 'application/json',
      ...options.headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
}

/** Gets a path with a key. */
export function get(url: string, path: string, key = 'sk-admin'): Promise<Response> {
  return fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
}
