/**
 * Real batches whose gateway goes away or takes its key back in the middle: run and conversation report it at once,
 * and everything is done in the end.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { copyBatch, type BatchCopy } from './batch-copy.ts';
import { runProgram, startProgram } from './running-program.ts';
import { recordsIn } from './upgrade-batch.ts';

const ITEMS = 6;
const AT_ONCE = 2;
/** The breaker opens after three failures, and one more conversation may be in flight then. */
const REFUSED_MAX = 3 + AT_ONCE - 1;
const TOLD_MS_MAX = 5_000;
const ALL_MS_MAX = 600_000;

/** A gateway of this process: it lets every agent write a file and finish, unless it refuses or is away. */
class Gateway {
  /** How it refuses every call; null: it answers. */
  refusal: Refusal | null = null;
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response));
  #port = 0;
  #heard: () => void = () => undefined;

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
    return `http://127.0.0.1:${this.#port}/v1`;
  }

  /** Resolves when the next call has been answered. */
  nextAnswer(): Promise<void> {
    return new Promise((resolve) => (this.#heard = resolve));
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { messages = [] } = JSON.parse(Buffer.concat(chunks).toString() || '{}') as {
      readonly messages?: readonly { readonly role: string }[];
    };
    const { status, error } = this.refusal ?? { status: 200, error: null };
    const body = error === null ? completion(messages.some(({ role }) => role === 'tool')) : { error };
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
    this.#heard();
  }
}

interface Refusal {
  readonly status: number;
  readonly error: { readonly message: string; readonly code?: string };
}

const REFUSALS = {
  'a key that is revoked': {
    status: 401,
    error: { message: 'Incorrect API key provided', code: 'invalid_api_key' },
  },
  // LiteLLM and OpenRouter answer so, where OpenAI has a status of its own.
  'a model that is no longer there': {
    status: 400,
    error: { message: 'Invalid model name passed in model=coder' },
  },
} satisfies Readonly<Record<string, Refusal>>;

function completion(isDone: boolean): unknown {
  const [name, args] = isDone
    ? ['finish', { message: 'done' }]
    : ['terminal', { command: 'sleep 1; echo hello > hello.txt' }];
  const call = { id: 'call_1', type: 'function', function: { name, arguments: JSON.stringify(args) } };
  const message = { role: 'assistant', content: 'ok', tool_calls: [call] };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return {
    id: 'r',
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: 'stop', message }],
    usage,
  };
}

/** The preflight of a run calls the gateway as well: here only the calls of agents are counted. */
const UNSEEN = ['--no-preflight'];

const gateway = new Gateway();
let copy: BatchCopy;

beforeAll(async () => {
  copy = copyBatch('none', 'first-batch');
  const keys = Array.from({ length: ITEMS }, (_, index) => `c${index}`);
  const conversations = keys.map(
    (key) => `  - { id: ${key}, prompt: Write hello.txt for ${key}., verify: test -s hello.txt }\n`,
  );
  const job = `kind: job\nversion: 1\nname: trouble\ndefaults: { model: coder }\nconversations:\n${conversations.join('')}`;
  writeFileSync(path.join(copy.example, 'job.yaml'), `${job}admission: { concurrency: ${AT_ONCE} }\n`);
  const entry = { model: 'openai/coder', api_base: await gateway.listen(), api_key: 'k' };
  const models = [{ model_name: 'coder', proxyvendor_params: entry }];
  const deployment = { proxy_config: { model_list: models }, results: { path: 'out' } };
  writeFileSync(path.join(copy.example, 'parley.yaml'), JSON.stringify(deployment));
});

afterAll(async () => {
  await gateway.close();
  copy.close();
});

const parley = (...args: readonly string[]) => runProgram(copy, 'bin/parley.js', args);
const troubles = (stdout: string) => recordsIn(stdout).filter((record) => record['trouble'] !== undefined);

it(
  'a gateway that goes away is told within seconds, and when it is back the batch ends as if nothing had been',
  async () => {
    const answered = gateway.nextAnswer();
    const run = startProgram(copy, 'bin/parley.js', [
      'run',
      'job.yaml',
      '--run-id',
      'away',
      '--plain',
      ...UNSEEN,
    ]);
    await answered;
    await gateway.close();
    const closedAt = performance.now();
    // The command that is under way takes a second before the model is called again.
    expect(await run.says(/trouble with model since \S+, try \d+, next \S+: .*cannot be reached/)).toBe(true);
    expect(performance.now() - closedAt).toBeLessThan(TOLD_MS_MAX);
    const during = troubles((await parley('status', 'away', '--json')).stdout);
    expect(new Set(during.map(({ type }) => type))).toEqual(new Set(['run', 'item']));
    expect(during[0]?.['trouble']).toMatchObject({ what: 'model', cause: expect.stringContaining('502') });
    expect((await parley('logs', 'away')).stdout).toMatch(/ model: try \d+ failed, next in /);
    await gateway.listen();
    const end = await run.ended;
    expect(end.code, end.stderr).toBe(0);
    expect(end.stderr).toContain('the trouble is over');
    expect(end.stdout).toContain(`done ${ITEMS}/${ITEMS}`);
    expect(troubles((await parley('status', 'away', '--json')).stdout)).toEqual([]);
  },
  ALL_MS_MAX,
);

it.each(Object.entries(REFUSALS))(
  '%s stops the batch after three, and the rest is done when it is given back',
  async (_name, refusal) => {
    const runId = `refused-${refusal.status}`;
    const answered = gateway.nextAnswer();
    const run = startProgram(copy, 'bin/parley.js', [
      'run',
      'job.yaml',
      '--run-id',
      runId,
      '--json',
      ...UNSEEN,
    ]);
    await answered;
    gateway.refusal = refusal;
    const end = await run.ended;
    expect(end.code, end.stderr).toBe(3);
    const records = recordsIn(end.stdout);
    const done = records.at(-1) as { readonly reason: string; readonly ended: Record<string, number> };
    expect(done.reason).toBe('breaker:refused');
    expect(done.ended['failed']).toBeGreaterThanOrEqual(3);
    expect(done.ended['failed']).toBeLessThanOrEqual(REFUSED_MAX);
    const failed = records.filter((record) => record['outcome'] === 'failed');
    expect(failed.every((record) => record['failure_class'] === 'refused' && record['attempt'] === 1)).toBe(
      true,
    );
    gateway.refusal = null;
    const resumed = await parley('resume', runId, '--json');
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(recordsIn(resumed.stdout).at(-1)).toMatchObject({ ended: { succeeded: ITEMS } });
  },
  ALL_MS_MAX,
);
