/**
 * What a gateway's answer says about its models and about the key, whatever product it is.
 * Owns the reading of status and body; must not open a connection.
 */
import { saysModelUnknown } from '../../core/unknown-model.ts';
import { parsedJson } from '../../core/text/parsed-json.ts';

import { errorOf, statusOfError } from '../../proxy/in-band-error.ts';
import { asObject } from '../../proxy/relay/json-value.ts';

export type GatewayAnswer =
  | { readonly kind: 'listed'; readonly ids: readonly string[] }
  /** It answers, and lists nothing: whether it has a model is found by calling the model. */
  | { readonly kind: 'no_list' }
  | Refusal;

export type ModelAnswer =
  { readonly kind: 'served' } | { readonly kind: 'unknown_model'; readonly said: string } | Refusal;

export type Refusal =
  | { readonly kind: 'key_refused'; readonly said: string }
  | { readonly kind: 'quota_used_up'; readonly said: string }
  /** It may be better at the next try. */
  | { readonly kind: 'in_trouble'; readonly said: string }
  | { readonly kind: 'unreachable'; readonly reason: string; readonly remedy: string };

export interface HttpAnswer {
  readonly status: number;
  /** Of a redirect. */
  readonly location: string | null;
  /** As far as it was read; the value of the key is not in it. */
  readonly text: string;
}

/** What is shown of another server's error is one line. */
const SAID_CHARS_MAX = 200;

export function readModelList(answer: HttpAnswer): GatewayAnswer {
  const refusal = readRefusal(answer);
  if (refusal !== null) return refusal;
  const ids = answer.status === 200 ? idsOf(parsedJson(answer.text)) : [];
  return ids.length > 0 ? { kind: 'listed', ids } : { kind: 'no_list' };
}

export function readModelCall(answer: HttpAnswer): ModelAnswer {
  const refusal = readRefusal(answer);
  if (refusal !== null) return refusal;
  const said = saidOf(answer);
  const status = statusOf(answer);
  if (status < 300) return readCompletion(answer);
  if (status === 404 || saysModelUnknown(answer.text)) return { kind: 'unknown_model', said };
  // What is wrong with so short a call, such as the name of a parameter, says nothing of a real one.
  return { kind: 'served' };
}

/** A page that greets people is no answer of a model. */
function readCompletion({ text }: HttpAnswer): ModelAnswer {
  const { choices } = (parsedJson(text) ?? {}) as { readonly choices?: unknown };
  if (Array.isArray(choices)) return { kind: 'served' };
  return {
    kind: 'unreachable',
    reason: 'what answers is no gateway: it neither lists models nor completes a chat',
    remedy: 'correct api_base',
  };
}

function readRefusal(answer: HttpAnswer): Refusal | null {
  const { location, text } = answer;
  const status = statusOf(answer);
  const said = saidOf(answer);
  // A proxy without a database answers so to a key that is not its master key.
  if (status === 401 || status === 403 || /no_db_connection|invalid_api_key/.test(text))
    return { kind: 'key_refused', said };
  if (/insufficient_quota/.test(text)) return { kind: 'quota_used_up', said };
  if (status === 429 || status >= 500) return { kind: 'in_trouble', said };
  if (status < 300 || status > 399) return null;
  const to = location === null ? 'another address' : `"${location}"`;
  return {
    kind: 'unreachable',
    reason: `it redirects to ${to}, and calls of agents follow no redirect`,
    remedy: 'write the address that it leads to as api_base',
  };
}

/** A list as OpenAI has it, or without the object around it; strings or objects with an id. */
function idsOf(body: unknown): readonly string[] {
  const list = Array.isArray(body) ? body : (body as { readonly data?: unknown } | null)?.data;
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown) => {
    const id = typeof one === 'string' ? one : (one as { readonly id?: unknown } | null)?.id;
    return typeof id === 'string' ? [id] : [];
  });
}

/** An error in a 200 is what it says, as it is to the proxy. */
function statusOf({ status, text }: HttpAnswer): number {
  const json = status < 300 ? asObject(parsedJson(text)) : null;
  const error = json === null ? null : errorOf(json);
  return error === null ? status : statusOfError(error);
}

function saidOf({ status, text }: HttpAnswer): string {
  const body = parsedJson(text) as {
    readonly error?: unknown;
    readonly detail?: unknown;
    readonly message?: unknown;
  };
  const error = (body as typeof body | null | undefined)?.error;
  const message = (error as { readonly message?: unknown } | null | undefined)?.message;
  const words = [message, error, body?.detail, body?.message].find((one) => typeof one === 'string');
  const line = String(words ?? '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, SAID_CHARS_MAX);
  return line === '' ? `${status}` : `${status}: ${line}`;
}

/** Some lists write a family before the name, and some one name for everything behind it. */
export function isListed(ids: readonly string[], model: string): boolean {
  return ids.some((id) => {
    if (id === model || id === `models/${model}`) return true;
    return id.endsWith('*') && model.startsWith(id.slice(0, -1));
  });
}
