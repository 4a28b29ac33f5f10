/**
 * Where spans go, by the environment variables of OpenTelemetry.
 * Owns their reading; header values are secrets and are never repeated.
 */
import { ParleyError } from '../core/parley-error.ts';

export interface OtlpSettings {
  /** Address that takes traces. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const SERVICE_NAME_DEFAULT = 'parley';

/**
 * Null when no endpoint is set, or OpenTelemetry is switched off.
 * @throws ParleyError config_invalid for an endpoint or headers that cannot be used
 */
export function otlpSettings(env: Environment): OtlpSettings | null {
  const url = endpointOf(env);
  if (url === null || env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return null;
  refuseOtherProtocols(env);
  const headers = {
    ...headersOf(env, 'OTEL_EXPORTER_OTLP_HEADERS'),
    ...headersOf(env, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
  };
  return { url, headers, serviceName: env['OTEL_SERVICE_NAME'] || SERVICE_NAME_DEFAULT };
}

function endpointOf(env: Environment): string | null {
  const forTraces = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  if (forTraces) return checked('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', forTraces);
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!base) return null;
  return `${checked('OTEL_EXPORTER_OTLP_ENDPOINT', base).replace(/\/+$/, '')}/v1/traces`;
}

function checked(variable: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.search === '') return url.href;
  throw new ParleyError('config_invalid', `Cannot send spans: ${variable} is no address of HTTP`, {
    remedy: 'write it as http://HOST:4318',
  });
}

/** Collectors take the same spans as JSON wherever they take them over HTTP. */
function refuseOtherProtocols(env: Environment): void {
  const protocol =
    env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'] || 'http/json';
  if (protocol.startsWith('http/')) return;
  throw new ParleyError('config_invalid', `Cannot send spans: OTEL_EXPORTER_OTLP_PROTOCOL is "${protocol}"`, {
    remedy: 'use http/json, and the port of the collector for HTTP, which is 4318 by default',
  });
}

/** `name=value` pairs between commas, percent-encoded. */
function headersOf(env: Environment, variable: string): Readonly<Record<string, string>> {
  const pairs = (env[variable] ?? '').split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw unreadable(variable);
      return [pair.slice(0, at).trim().toLowerCase(), decoded(variable, pair.slice(at + 1).trim())];
    }),
  );
}

function decoded(variable: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw unreadable(variable);
  }
}

function unreadable(variable: string): ParleyError {
  return new ParleyError('config_invalid', `Cannot send spans: ${variable} is no list of headers`, {
    remedy: 'write name=value, with commas between, and special characters percent-encoded',
  });
}
