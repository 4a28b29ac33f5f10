/**
 * Where a worker process shows its metrics to Prometheus, and how the native runtime is configured for it.
 * Owns names and units on the page; must not install the runtime, which there is one of in a process.
 */
import net from 'node:net';
import type { RuntimeOptions } from '@temporalio/worker';
import { ParleyError } from '../core/parley-error.ts';
import { TRY_SECONDS } from './meters.ts';

/** Where metrics can be scraped. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** How the Temporal SDK exports its own metrics. */
export type Telemetry = Omit<NonNullable<RuntimeOptions['telemetryOptions']>, 'logging'>;

/** Metrics name queues and counts; a deployment that wants them from elsewhere says so. */
const LOOPBACK = '127.0.0.1';
const PORT_MAX = 65_535;
/** From a store write to the longest set-up script, in seconds. */
const TRY_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];

/**
 * Reads `PORT` or `HOST:PORT`, an IPv6 host in brackets.
 * @throws ParleyError config_invalid
 */
export function parseMetricsAddress(text: string): MetricsAddress {
  const colon = text.lastIndexOf(':');
  const host = colon < 0 ? LOOPBACK : text.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  const digits = text.slice(colon + 1);
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  if (port >= 1 && port <= PORT_MAX && isAddress(host)) return { host, port };
  throw new ParleyError('config_invalid', `Cannot show metrics at "${text}": it is no address to listen on`, {
    remedy: `write a port from 1 to ${PORT_MAX}, or an IP address and a port such as ${LOOPBACK}:9464`,
  });
}

/** The native part takes addresses only, no names. */
function isAddress(host: string): boolean {
  return net.isIP(host) !== 0;
}

/** Telemetry for `Runtime.install`; null shows nothing. Names and units follow the conventions of Prometheus. */
export function metricsTelemetry(address: MetricsAddress | null): Telemetry {
  if (address === null) return {};
  return {
    metrics: {
      attachServiceName: false,
      prometheus: {
        bindAddress: shown(address),
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
        histogramBucketOverrides: { [TRY_SECONDS]: TRY_BUCKETS },
      },
    },
  };
}

/**
 * To be asked before the runtime is installed: its native part would end with a message of its own.
 * @throws ParleyError engine_misconfigured when another program listens there, or none may
 */
export async function ensureFree(address: MetricsAddress): Promise<void> {
  const probe = net.createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject);
      probe.listen({ ...address, exclusive: true }, resolve);
    });
  } catch (cause) {
    throw new ParleyError(
      'engine_misconfigured',
      `Cannot show metrics at ${shown(address)}: ${reason(cause)}`,
      {
        cause,
        remedy: 'choose another port for them, or end what listens there',
      },
    );
  }
  await new Promise((resolve) => probe.close(resolve));
}

function reason(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : null;
  if (code === 'EADDRINUSE') return 'the port is in use';
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have that address';
  if (code === 'EACCES') return 'this user may not listen there';
  return String(cause);
}

/** Where a browser finds the page. */
export function metricsUrlOf(address: MetricsAddress): string {
  return `http://${shown(address)}/metrics`;
}

function shown({ host, port }: MetricsAddress): string {
  return net.isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
