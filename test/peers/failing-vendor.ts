/**
 * A vendor whose models fail on request: `fails-429` answers 429, and so on; any other model answers as usual.
 * Owns the entries of the proxy that lead to it; must not know who asks.
 */
import type { Answer } from '../proxy/stub-gateway.ts';
import { answerMessages } from './message-vendor.ts';
import type { ProxyEntry } from './open-proxy.ts';
import { answerChat } from './stub-vendor.ts';

const STATUSES = [400, 404, 429, 500] as const;

export const answerOrFail: Answer = (res, seen) => {
  const { model } = JSON.parse(seen.body) as { readonly model: string };
  const [, status] = /^fails-(\d{3})$/.exec(model) ?? [];
  const isMessage = seen.url.includes('/messages');
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

/** One model that answers, and one for each status. */
export function failingEntries(origin: string): readonly ProxyEntry[] {
  const params = { api_base: `${origin}/v1`, api_key: 'sk-vendor' };
  return [
    { name: 'coder', params: { ...params, model: 'openai/acme/coder-1' } },
    ...STATUSES.map((status) => ({
      name: `fails-${status}`,
      params: { ...params, model: `openai/fails-${status}` },
    })),
  ];
}
