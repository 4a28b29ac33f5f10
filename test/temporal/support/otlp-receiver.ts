/**
 * A collector that takes spans over HTTP and keeps them as they came.
 * Owns the listener, which ends with the test that opened it; must not assert.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A span in the form of the protocol. */
export interface TakenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code?: number };
}

export interface OtlpReceiver {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string;
  readonly paths: readonly string[];
  readonly bodies: readonly string[];
  /** Each span once: a repeat has the same id. */
  spans(): readonly TakenSpan[];
  close(): Promise<void>;
}

interface Body {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly TakenSpan[] }[];
  }[];
}

export async function openOtlpReceiver(): Promise<OtlpReceiver> {
  const bodies: string[] = [];
  const paths: string[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString('utf8'));
      paths.push(request.url ?? '');
      response.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    paths,
    bodies,
    spans: () => {
      const all = bodies
        .flatMap((text) => (JSON.parse(text) as Body).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
      return [...new Map(all.map((span) => [span.spanId, span])).values()];
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Attributes as an object, each with its value as the protocol writes it. */
export function attributesOf(span: TakenSpan | undefined): Readonly<Record<string, unknown>> {
  return Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, value]));
}
