/**
 * One HTTP call to an Agent Server.
 * Owns deadline, key, bounds and the meaning of statuses; must not know an endpoint.
 */
import { request, type Dispatcher, type FormData } from 'undici';
import { ParleyError } from '../../core/parley-error.ts';
import { createTurnstile, type Turnstile } from '../../core/shares/turnstile.ts';
import type { AgentTarget } from '../../ports/agent-server.ts';
import type { Connections } from './connections.ts';
import {
  DETAIL_CHARS_MAX,
  JSON_BYTES_MAX,
  LARGE_ANSWER_BYTES,
  LARGE_ANSWERS_MAX,
  LARGE_ANSWERS_PER_SANDBOX_MAX,
  LARGE_ANSWERS_WAITING_MAX,
} from './limits.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Starts with a slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly form?: FormData;
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses besides 2xx that the caller understands. */
  readonly accepted?: readonly number[];
  readonly timeoutMs?: number;
  readonly bytesMax?: number;
}

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
  /** Names in lower case; of one that came several times, the first. */
  header(name: string): string | null;
}

export type Caller = (target: AgentTarget, call: Call) => Promise<Answer>;

/** @throws ParleyError (the function made) agent_unreachable, agent_refused, not_found */
export function createCaller(connections: Connections, timeoutMs: number): Caller {
  const large = createTurnstile({
    insideMax: LARGE_ANSWERS_MAX,
    perOwnerMax: LARGE_ANSWERS_PER_SANDBOX_MAX,
    waitingMax: LARGE_ANSWERS_WAITING_MAX,
  });
  return async (target, call) => {
    const answer = await send({ connections, large }, { timeoutMs, ...call }, target);
    if (answer.status >= 200 && answer.status < 300) return answer;
    if (call.accepted?.includes(answer.status) === true) return answer;
    throw refusal(call, answer);
  };
}

/** @throws ParleyError agent_refused: the answer is no JSON */
export function jsonOf(answer: Answer): unknown {
  try {
    return JSON.parse(answer.body.toString('utf8'));
  } catch (error) {
    throw new ParleyError('agent_refused', 'Cannot read answer of the Agent Server: no JSON', {
      cause: error,
    });
  }
}

interface Ways {
  readonly connections: Connections;
  /** Places of answers that are large. */
  readonly large: Turnstile;
}

async function send(
  { connections, large }: Ways,
  call: Call & { readonly timeoutMs: number },
  target: AgentTarget,
): Promise<Answer> {
  const { dispatcher, baseUrl } = connections.to(target.address);
  const query = call.query === undefined ? '' : `?${new URLSearchParams(call.query).toString()}`;
  const jsonHeader = call.json === undefined ? {} : { 'content-type': 'application/json' };
  try {
    const response = await request(`${baseUrl}${call.path}${query}`, {
      dispatcher,
      method: call.method,
      headers: { ...jsonHeader, ...call.headers, 'x-session-api-key': target.sessionKey },
      body: call.form ?? (call.json === undefined ? null : JSON.stringify(call.json)),
      signal: AbortSignal.timeout(call.timeoutMs),
      // The deadline above is the only one: a command may be silent for longer than undici's own.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const place = (): Promise<(() => void) | null> =>
      new Promise((resolve) => {
        if (!large.enter(target.address.sandboxId, resolve)) resolve(null);
      });
    const body = await readBody(response, call.bytesMax ?? JSON_BYTES_MAX, place);
    const header = (name: string): string | null => [response.headers[name]].flat()[0] ?? null;
    return { status: response.statusCode, body, header };
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    const why = isTimeout(error) ? `no answer within ${call.timeoutMs} ms` : reasonOf(error);
    throw new ParleyError('agent_unreachable', `Cannot ${describe(call)}: ${why}`, { cause: error });
  }
}

/** Nothing more of a large answer is taken before it has a place; its sandbox waits meanwhile. */
async function readBody(
  response: Dispatcher.ResponseData,
  bytesMax: number,
  place: () => Promise<(() => void) | null>,
): Promise<Buffer> {
  if (Number(response.headers['content-length']) > bytesMax) {
    response.body.on('error', () => undefined).destroy();
    throw tooLarge(bytesMax);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  let leave: (() => void) | null = null;
  try {
    for await (const chunk of response.body) {
      size += (chunk as Buffer).length;
      if (size > bytesMax) throw tooLarge(bytesMax);
      chunks.push(chunk as Buffer);
      if (size <= LARGE_ANSWER_BYTES || leave !== null) continue;
      leave = await place();
      if (leave === null)
        throw new ParleyError(
          'agent_unreachable',
          'Cannot read answer of the Agent Server: too many large ones wait to be read',
        );
    }
    return Buffer.concat(chunks);
  } finally {
    leave?.();
  }
}

function tooLarge(bytesMax: number): ParleyError {
  return new ParleyError(
    'agent_refused',
    `Cannot read answer of the Agent Server: more than ${bytesMax} bytes`,
    { details: { bytesMax } },
  );
}

/** Of the error of a call: its answer was larger than `Call.bytesMax`. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof ParleyError && error.details['bytesMax'] !== undefined;
}

/** 429 and 5xx may pass by themselves; anything else is the same again. */
function refusal(call: Call, answer: Answer): ParleyError {
  const { status } = answer;
  const code =
    status === 404 ? 'not_found' : status === 429 || status >= 500 ? 'agent_unreachable' : 'agent_refused';
  return new ParleyError(
    code,
    `Cannot ${describe(call)}: the Agent Server answered ${status}${detailOf(answer)}`,
    {
      details: { status },
    },
  );
}

function describe(call: Call): string {
  return `call "${call.method} ${call.path}"`;
}

/** The server's own explanation, of which only messages are taken: inputs that it repeats may hold secrets. */
function detailOf({ body }: Answer): string {
  let detail: unknown;
  try {
    detail = (JSON.parse(body.toString('utf8')) as { detail?: unknown } | null)?.detail;
  } catch {
    return '';
  }
  const findings = Array.isArray(detail) ? detail.map((finding: unknown) => messageOf(finding)) : [detail];
  const text = findings.filter((finding) => typeof finding === 'string').join('; ');
  const printable = text.replace(/\p{Cc}/gu, ' ').slice(0, DETAIL_CHARS_MAX);
  return printable === '' ? '' : `, "${printable}"`;
}

function messageOf(finding: unknown): string | null {
  if (typeof finding !== 'object' || finding === null) return null;
  const { loc, msg } = finding as { loc?: unknown; msg?: unknown };
  return `${Array.isArray(loc) ? loc.join('.') : 'body'}: ${String(msg)}`;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
