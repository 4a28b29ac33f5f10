/**
 * A vendor whose models fail on request: `fails-429` answers 429, and so on; `hangs` and its kin break off a stream of
 * messages; any other model answers as usual.
 * Owns the entries of the proxy that lead to it; must not know who asks.
 */
import type { Answer } from '../proxy/stub-gateway.ts';
import { answerMessages, BROKEN_MODELS, breakOff, PRICES } from './message-vendor.ts';
import type { ProxyEntry } from './open-proxy.ts';
import { answerChat } from './stub-vendor.ts';

const STATUSES = [400, 404, 429, 500] as const;

export const answerOrFail: Answer = (res, seen) => {
  const { model } = JSON.parse(seen.body) as { readonly model: string };
  const [, status] = /^fails-(\d{3})$/.exec(model) ?? [];
  const isMessage = seen.url.includes('/messages');
  const broken = BROKEN_MODELS.find((one) => one === model);
  if (broken !== undefined && isMessage) return breakOff(broken, res);
  if (status === undefined) return isMessage ? answerMessages(res, seen) : answerChat(res, seen);
  res.writeHead(Number(status), { 'content-type': 'application/json', 'retry-after': '0' });
  const error = {
    message: `the vendor says ${status}`,
    // LiteLLM as a client believes the type before the status.
    type: Number(status) < 500 ? 'invalid_request_error' : 'server_error',
    param: null,
    code: status,
  };
  res.end(JSON.stringify(isMessage ? { type: 'error', error } : { error }));
};

/** One model that answers, at prices; one for each status, and one for each way in which a stream breaks off. */
export function failingEntries(origin: string): readonly ProxyEntry[] {
  const params = { api_base: `${origin}/v1`, api_key: 'sk-vendor' };
  return [
    { name: 'coder', params: { ...params, ...PRICES, model: 'openai/acme/coder-1' } },
    ...BROKEN_MODELS.map((name) => ({ name, params: { ...params, ...PRICES, model: `openai/${name}` } })),
    ...STATUSES.map((status) => ({
      name: `fails-${status}`,
      params: { ...params, model: `openai/fails-${status}` },
    })),
  ];
}
