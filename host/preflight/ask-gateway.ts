/**
 * Requests a gateway's models, as the proxy requests an answer: same address, key and headers.
 * Owns the connection and how its failures are worded; the key is in no answer.
 */
import { request } from 'undici';
import { ACCEPT_CODING, decodedBody, readyCodings } from '../../clients/gateway/content-coding.ts';
import { gatewayDispatcher } from '../../clients/gateway/gateway-connection.ts';
import {
  readModelCall,
  readModelList,
  type GatewayAnswer,
  type HttpAnswer,
  type ModelAnswer,
  type Refusal,
} from './gateway-answer.ts';
import { bounded } from './ref-reader.ts';

/** Where a gateway is and what opens it: the part of a model entry that is the gateway's. */
export interface GatewayPlace {
  readonly origin: string;
  /** Ends in `/v1`. */
  readonly basePath: string;
  readonly apiKey: string;
  readonly extraHeaders: ReadonlyMap<string, string>;
}

export interface GatewayDesk {
  models(place: GatewayPlace, signal: AbortSignal): Promise<GatewayAnswer>;
  /** One token: it costs what a token costs, so it is called only where nothing is listed. */
  call(place: GatewayPlace, model: string, signal: AbortSignal): Promise<ModelAnswer>;
}

/** The longest list that is read; that of a gateway for everything has some hundred kilobytes. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

export const gatewayDesk: GatewayDesk = {
  async models(place, signal) {
    const answer = await ask(place, { path: '/models', body: null, signal });
    return 'kind' in answer ? answer : readModelList(answer);
  },
  async call(place, model, signal) {
    const messages = [{ role: 'user', content: 'Say yes.' }];
    const body = JSON.stringify({ model, messages, max_tokens: 1 });
    const answer = await ask(place, { path: '/chat/completions', body, signal });
    return 'kind' in answer ? answer : readModelCall(answer);
  },
};

interface Question {
  readonly path: string;
  /** Null reads. */
  readonly body: string | null;
  readonly signal: AbortSignal;
}

async function ask(place: GatewayPlace, { path, body, signal }: Question): Promise<HttpAnswer | Refusal> {
  const { origin, basePath, apiKey, extraHeaders } = place;
  try {
    // Not `fetch`, which refuses ports that calls of agents are sent to.
    const answer = await request(`${origin}${basePath}${path}`, {
      dispatcher: gatewayDispatcher(),
      method: body === null ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        accept: 'application/json',
        'accept-encoding': ACCEPT_CODING,
        'user-agent': 'parley-proxy',
        ...Object.fromEntries(extraHeaders),
        ...(body === null ? {} : { 'content-type': 'application/json' }),
      },
      body,
      signal,
      // One request, one connection: nothing is kept open behind the check.
      reset: true,
    });
    const coding = answer.headers['content-encoding'];
    // Some gateways pack whatever they send, requested or not. What cannot be unpacked says nothing.
    await readyCodings();
    // A longer text is no JSON as far as it is read, and counts as no list.
    const read = await bounded(answer.body, ANSWER_BYTES_MAX);
    const bytes = decodedBody({ bytes: read, coding, bytesMax: ANSWER_BYTES_MAX });
    const text = (bytes ?? Buffer.alloc(0)).toString('utf8').replaceAll(apiKey, '…');
    return { status: answer.statusCode, location: headerOf(answer.headers.location), text };
  } catch (error) {
    const { reason, isTooSlow } = reasonOfCause(error);
    if (isTooSlow) return { kind: 'in_trouble', said: reason };
    return { kind: 'unreachable', reason, remedy: remedyOfCause(reason) };
  }
}

function headerOf(value: string | string[] | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/**
 * Why a connection did not come about, in words and with a remedy.
 * Owns the words; must not know which server was called.
 */

interface Cause {
  readonly reason: string;
  /** It may still answer: the connection was not refused. */
  readonly isTooSlow: boolean;
}

const SLOW = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it breaks the connection off',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ENOTFOUND: 'no such host is known',
  EAI_AGAIN: 'no name server tells its address',
  UND_ERR_SOCKET: 'it breaks the connection off',
};

/** Of the error of a call, whose cause has the code of the system. */
function reasonOfCause(error: unknown): Cause {
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError'))
    return { reason: 'no answer in time', isTooSlow: true };
  const cause = innermost(error);
  const { code = '', message = String(cause) } = cause as {
    readonly code?: string;
    readonly message?: string;
  };
  if (SLOW.has(code)) return { reason: 'no answer in time', isTooSlow: true };
  const known = WORDS[code];
  return { reason: known ?? (code === '' ? message : `${message} (${code})`), isTooSlow: false };
}

function innermost(error: unknown): unknown {
  const { cause, errors } = error as { readonly cause?: unknown; readonly errors?: readonly unknown[] };
  if (errors !== undefined && errors.length > 0) return innermost(errors[0]);
  return cause === undefined || cause === null ? error : innermost(cause);
}

function remedyOfCause(reason: string): string {
  if (/certificate|CERT|SSL|self.signed|TLS/i.test(reason))
    return 'let NODE_EXTRA_CA_CERTS name the authority of its certificate, or correct the address';
  return 'start it, or correct the address';
}
