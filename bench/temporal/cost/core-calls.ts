/**
 * Calls to the server, by operation, as the native part of the SDK counts them: those of workers and of clients.
 * Owns the page of metrics of this process and its reading.
 */
import { freePort } from '../../../loopback/free-port.ts';
import { metricsTelemetry, metricsUrlOf, type Telemetry } from '../../../telemetry/metrics-endpoint.ts';

export type Counts = ReadonlyMap<string, number>;

export interface CoreCalls {
  readonly telemetry: Telemetry;
  /** By `unary OPERATION` and `poll OPERATION`, since the process began. */
  read(): Promise<Counts>;
}

const COUNTER = /^temporal_(long_)?request_total\{([^}]*)\} (\d+)/;

export async function coreCalls(): Promise<CoreCalls> {
  const address = { host: '127.0.0.1', port: await freePort() };
  return {
    telemetry: metricsTelemetry(address),
    async read() {
      const counts = new Map<string, number>();
      const page = await (await fetch(metricsUrlOf(address))).text();
      for (const line of page.split('\n')) {
        const [, long, labels, count] = COUNTER.exec(line) ?? [];
        const operation = /operation="(\w+)"/.exec(labels ?? '')?.[1];
        if (operation === undefined) continue;
        const key = `${long === undefined ? 'unary' : 'poll'} ${operation}`;
        counts.set(key, (counts.get(key) ?? 0) + Number(count));
      }
      return counts;
    },
  };
}
