/** Metrics and spans without a server: addresses, settings, the form that collectors take, and what is sent when. */
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ensureFree, metricsTelemetry, parseMetricsAddress } from '../../telemetry/metrics-endpoint.ts';
import { openSpans, otlpJson } from '../../telemetry/otlp-exporter.ts';
import { otlpSettings } from '../../telemetry/otlp-settings.ts';
import { rootSpanId, spanIdOf, traceIdOf, workSpanId, type Span } from '../../telemetry/span.ts';

const ADDRESS = { machine: 'conversation', id: 'c1' } as const;
const SECRET = 'hunter2 and more';

function span(name: string, change: Partial<Span> = {}): Span {
  return {
    traceId: traceIdOf(ADDRESS),
    spanId: spanIdOf(ADDRESS, name),
    parentSpanId: workSpanId(ADDRESS),
    name,
    startMs: 1_700_000_000_001,
    endMs: 1_700_000_000_750,
    attributes: { text: 'a', count: 3, share: 0.5, isTrue: true },
    errorCode: null,
    ...change,
  };
}

describe('the address of metrics', () => {
  it.each([
    ['9464', { host: '127.0.0.1', port: 9464 }],
    ['0.0.0.0:9464', { host: '0.0.0.0', port: 9464 }],
    ['[::1]:9464', { host: '::1', port: 9464 }],
  ])('is read from "%s"', (text, address) => {
    expect(parseMetricsAddress(text)).toEqual(address);
  });

  it.each(['', '0', '65536', ':9464', 'localhost:9464', '9464x', '1.2.3:9'])('is not "%s"', (text) => {
    expect(() => parseMetricsAddress(text)).toThrow(/it is no address to listen on/);
  });

  it('is what the runtime is told, and nothing without one', () => {
    expect(metricsTelemetry(null)).toEqual({});
    expect(metricsTelemetry({ host: '::1', port: 9464 }).metrics).toMatchObject({
      prometheus: { bindAddress: '[::1]:9464' },
    });
  });

  it('is refused with a remedy when somebody listens there, and may be used once nobody does', async () => {
    const other = net.createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const address = { host: '127.0.0.1', port };
    await expect(ensureFree(address)).rejects.toMatchObject({
      code: 'engine_misconfigured',
      message: `Cannot show metrics at 127.0.0.1:${port}: the port is in use`,
      remedy: 'choose another port for them, or end what listens there',
    });
    await new Promise((resolve) => other.close(resolve));
    await ensureFree(address);
    await ensureFree(address);
  });
});

describe('where spans go', () => {
  it('is nowhere until an endpoint is set, nor when it is switched off', () => {
    expect(otlpSettings({})).toBeNull();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318', OTEL_SDK_DISABLED: 'true' };
    expect(otlpSettings(env)).toBeNull();
    expect(openSpans({ env: {}, version: '1', onNotice: () => undefined })).toBeNull();
  });

  it('is below the endpoint, or exactly at the one for traces', () => {
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://localhost:4318/';
    expect(otlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT })?.url).toBe('http://localhost:4318/v1/traces');
    const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = 'https://spans.example/in';
    expect(otlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT })).toEqual({
      url: 'https://spans.example/in',
      headers: {},
      serviceName: 'parley',
    });
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT is no address'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: SECRET }, 'OTEL_EXPORTER_OTLP_HEADERS is no list of headers'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: `a=%zz${SECRET}` }, 'OTEL_EXPORTER_OTLP_HEADERS is no list of headers'],
  ])('is refused in words that repeat no secret: %o', (env, words) => {
    const all = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318', ...env };
    expect(() => otlpSettings(all)).toThrow(words);
    expect(() => otlpSettings(all)).not.toThrow(SECRET);
  });
});

describe('spans', () => {
  it('have the form of the protocol', () => {
    const body: unknown = JSON.parse(
      otlpJson([span('openAgent', { errorCode: 'agent_unreachable' })], { serviceName: 's', version: '1' }),
    );
    expect(body).toEqual({
      resourceSpans: [
        {
          resource: {
            attributes: [
              { key: 'service.name', value: { stringValue: 's' } },
              { key: 'service.version', value: { stringValue: '1' } },
            ],
          },
          scopeSpans: [
            {
              scope: { name: 'parley', version: '1' },
              spans: [
                {
                  traceId: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown,
                  spanId: expect.stringMatching(/^[0-9a-f]{16}$/) as unknown,
                  parentSpanId: expect.stringMatching(/^[0-9a-f]{16}$/) as unknown,
                  name: 'openAgent',
                  kind: 1,
                  startTimeUnixNano: '1700000000001000000',
                  endTimeUnixNano: '1700000000750000000',
                  attributes: [
                    { key: 'text', value: { stringValue: 'a' } },
                    { key: 'count', value: { intValue: '3' } },
                    { key: 'share', value: { doubleValue: 0.5 } },
                    { key: 'isTrue', value: { boolValue: true } },
                    { key: 'error.type', value: { stringValue: 'agent_unreachable' } },
                  ],
                  status: { code: 2, message: 'agent_unreachable' },
                },
              ],
            },
          ],
        },
      ],
    });
  });

  it('of one entity have one trace, and are told apart', () => {
    const other = { machine: 'conversation', id: 'c2' } as const;
    expect(traceIdOf(ADDRESS)).toBe(traceIdOf({ ...ADDRESS }));
    const outer = rootSpanId(ADDRESS, { isNamed: true });
    const ids = [spanIdOf(ADDRESS, 'a'), spanIdOf(ADDRESS, 'b'), spanIdOf(other, 'a'), workSpanId(ADDRESS)];
    expect(new Set([...ids, outer]).size).toBe(5);
    expect(rootSpanId(ADDRESS, { isNamed: false })).toBe(workSpanId(ADDRESS));
    expect(traceIdOf(other)).not.toBe(traceIdOf(ADDRESS));
  });
});

interface Collector {
  readonly url: string;
  readonly got: { readonly names: readonly string[]; readonly authorization: string | undefined }[];
  status: number;
}

async function listen(): Promise<Collector> {
  const got: Collector['got'] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const names = [
        ...Buffer.concat(chunks)
          .toString('utf8')
          .matchAll(/"name":"(span\d+)"/g),
      ].map((match) => match[1] ?? '');
      got.push({ names, authorization: request.headers.authorization });
      response.writeHead(collector.status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const collector: Collector = { url: `http://127.0.0.1:${port}`, got, status: 200 };
  return collector;
}

describe('sending spans', () => {
  it('happens in batches, with the headers, and with what is left at the end', async () => {
    const collector = await listen();
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20k',
    };
    const spans = openSpans({ env, version: '1', onNotice: () => undefined });
    for (let at = 0; at < 600; at += 1) spans?.add(span(`span${at}`));
    await spans?.close();
    expect(collector.got.map(({ names }) => names.length)).toEqual([512, 88]);
    expect(collector.got[0]?.authorization).toBe('Bearer k');
    expect(new Set(collector.got.flatMap(({ names }) => names)).size).toBe(600);
  });

  it('is given up for what the collector refuses, and told once', async () => {
    const collector = await listen();
    collector.status = 400;
    const notices: string[] = [];
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const spans = openSpans({ env, version: '1', onNotice: (text) => void notices.push(text) });
    for (let at = 0; at < 1_200; at += 1) spans?.add(span(`span${at}`));
    await spans?.close();
    expect(notices).toEqual(['Cannot send spans: the collector answers with 400']);
  });

  it('keeps what a collector that is busy did not take, within a bound', async () => {
    const collector = await listen();
    collector.status = 503;
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const spans = openSpans({ env, version: '1', onNotice: () => undefined });
    for (let at = 0; at < 5_000; at += 1) spans?.add(span(`span${at}`));
    await expect.poll(() => collector.got.length).toBe(1);
    collector.status = 200;
    await spans?.close();
    const taken = collector.got.slice(1).flatMap(({ names }) => names);
    expect(taken.length).toBe(2_048);
    expect(taken[0]).toBe('span0');
  });
});
