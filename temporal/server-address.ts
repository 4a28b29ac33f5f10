/**
 * Where a Temporal server is and how one gets in.
 * Owns the shape and its form for the packages of Temporal; must not connect.
 */
import type { ConnectionOptions } from '@temporalio/client';

/** Where a server is, and how one proves who asks. */
export interface TemporalServer {
  /** `HOST:PORT` of the frontend. */
  readonly address: string;
  readonly namespace: string;
  /** True means the authorities of the system; absent means TLS exactly when there is a key. */
  readonly tls?: boolean | TemporalTls;
  /** Sent as a bearer token; a secret. */
  readonly apiKey?: string;
}

/** Everything is PEM. */
export interface TemporalTls {
  /** Authorities to trust instead of the system's. */
  readonly rootCertificates?: Buffer;
  /** Name in the server's certificate, where it is not that of the address. */
  readonly serverName?: string;
  readonly client?: { readonly certificate: Buffer; readonly key: Buffer };
}

/** What the client's and the worker's connection both take. */
export interface ConnectionSettings {
  readonly address: string;
  readonly tls: NonNullable<ConnectionOptions['tls']>;
  readonly apiKey?: string;
}

/** For the SDK. */
export function connectionOptions({ address, tls, apiKey }: TemporalServer): ConnectionSettings {
  return {
    address,
    tls: tlsOptions(tls ?? apiKey !== undefined),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

function tlsOptions(tls: boolean | TemporalTls): NonNullable<ConnectionOptions['tls']> {
  if (typeof tls === 'boolean') return tls;
  const { rootCertificates, serverName, client } = tls;
  return {
    ...(rootCertificates === undefined ? {} : { serverRootCACertificate: rootCertificates }),
    ...(serverName === undefined ? {} : { serverNameOverride: serverName }),
    ...(client === undefined ? {} : { clientCertPair: { crt: client.certificate, key: client.key } }),
  };
}
