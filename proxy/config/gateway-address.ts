/**
 * Prefix and address rules by kind of gateway (D25).
 * Owns how `model` and `api_base` become a target; must not open a connection.
 */
import type { GatewayKind } from './config.ts';

export interface GatewayAddress {
  readonly kind: GatewayKind;
  readonly upstreamModel: string;
  readonly origin: string;
  /** Ends in `/v1`. */
  readonly basePath: string;
  /** Plain http to an address that is not this machine: the key would travel in clear. */
  readonly exposed: boolean;
}

export type AddressReading =
  | { readonly ok: true; readonly address: GatewayAddress }
  | { readonly ok: false; readonly field: 'model' | 'api_base'; readonly reason: string };

/** Reads the pair; `reason` continues a sentence and holds the corrected value where there is one. */
export function readGatewayAddress(
  vendor: string,
  params: { readonly model: string; readonly apiBase: string },
): AddressReading {
  const target = readModel(vendor, params.model);
  if (target === null) {
    const reason = `"${params.model}" must start with "openai/" or "${vendor}_proxy/" and name a model`;
    return { ok: false, field: 'model', reason };
  }
  const base = readBase(params.apiBase);
  if (typeof base === 'string') return { ok: false, field: 'api_base', reason: base };
  const path = base.pathname.replace(/\/+$/, '');
  const wrong = suffixProblem(target.kind, `${base.origin}${path}`, vendor);
  if (wrong !== null) return { ok: false, field: 'api_base', reason: wrong };
  const basePath = `${path}${target.kind === 'vendor' ? '/v1' : ''}`;
  const exposed = base.protocol === 'http:' && !isLoopback(base.hostname);
  return { ok: true, address: { ...target, origin: base.origin, basePath, exposed } };
}

function readModel(vendor: string, model: string): { kind: GatewayKind; upstreamModel: string } | null {
  for (const [prefix, kind] of [
    ['openai/', 'openai'],
    [`${vendor}_proxy/`, 'vendor'],
  ] as const) {
    const upstreamModel = model.slice(prefix.length);
    if (model.startsWith(prefix) && upstreamModel !== '') return { kind, upstreamModel };
  }
  return null;
}

/** The address, or what is wrong with it. An address that carries a credential is not repeated. */
function readBase(text: string): URL | string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return `"${text}" is no http or https address`;
  if (url.username !== '' || url.password !== '') return 'the address must not carry a credential';
  if (url.search !== '' || url.hash !== '') return 'the address must not carry a query or a fragment';
  return url;
}

function suffixProblem(kind: GatewayKind, base: string, vendor: string): string | null {
  const hasSuffix = base.endsWith('/v1');
  if (kind === 'openai' && !hasSuffix) {
    return `the base of an "openai/" model must end in "/v1": write "${base}/v1"`;
  }
  if (kind === 'vendor' && hasSuffix) {
    const corrected = base.replace(/(\/v1)+$/, '');
    return `the base of a "${vendor}_proxy/" model must not end in "/v1": write "${corrected}"`;
  }
  return null;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
