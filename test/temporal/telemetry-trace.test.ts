/** What a start request says about its trace reaches a collector, the same from both engines (D21). */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Observability } from '../../core/observability.ts';
import { Engine } from '../../engine/engine.ts';
import { systemClock } from '../../engine/system-clock.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { SILENT_METERS } from '../../telemetry/meters.ts';
import { observedActivities } from '../../telemetry/observed-activities.ts';
import { observedStore } from '../../telemetry/observed-store.ts';
import { openSpans, type Spans } from '../../telemetry/otlp-exporter.ts';
import { conversationAt, newStore, started } from '../engine/engine-harness.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { deploy } from './support/deployment.ts';
import { eventually, SLOW_MS, untilConversation } from './support/eventually.ts';
import {
  attributesOf,
  openOtlpReceiver,
  type OtlpReceiver,
  type TakenSpan,
} from './support/otlp-receiver.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';
import { watchingFakes } from './support/watching-fakes.ts';

installQuietRuntime();

const OBSERVABILITY: Observability = {
  spanName: 'nightly-refactoring',
  tags: ['nightly', 'search & index'],
  metadata: {
    team: 'search',
    attempt: 2,
    ratio: 0.5,
    dry: true,
    sizes: [1, 2.5, 3],
    names: ['a', 'b'],
    no: [],
  },
};
const [NAMED, UNNAMED, SILENT] = [1, 2, 3] as const;
const ENDED = { executionStatus: 'FINISHED', queuedMessages: 0 } as const;

/** Three conversations: one says everything, one has tags alone, one says nothing. */
async function live(requests: Notifier, store: Awaited<ReturnType<typeof newStore>>): Promise<void> {
  const { metadata, tags } = OBSERVABILITY;
  await requests.deliver(started(NAMED, { observability: OBSERVABILITY }));
  await requests.deliver(started(UNNAMED, { observability: { spanName: null, tags, metadata } }));
  await requests.deliver(started(SILENT));
  for (const index of [NAMED, UNNAMED, SILENT])
    await untilConversation({ store }, conversationAt(index), ENDED);
}

const spansTo = ({ url }: OtlpReceiver): Spans => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url };
  const spans = openSpans({ env, version: '1', onNotice: () => undefined });
  if (spans === null) throw new Error('no collector is named');
  return spans;
};

async function onEmbedded(receiver: OtlpReceiver): Promise<void> {
  const store = await newStore();
  const spans = spansTo(receiver);
  const observers = { meters: SILENT_METERS, spans };
  const { activities } = watchingFakes(systemClock);
  const engine = new Engine({
    store: observedStore(store.engine, { clock: systemClock, observers }),
    activities: observedActivities({ activities, clock: systemClock }, observers),
    clock: systemClock,
  });
  await engine.start();
  await live(engine, store);
  await engine.stop();
  await spans.close();
}

async function onTemporal(receiver: OtlpReceiver, { address }: DevServer): Promise<void> {
  const spans = spansTo(receiver);
  const { entities, store, stop } = await deploy({ address, observers: { meters: SILENT_METERS, spans } });
  await live(entities.requests, store);
  await stop();
  await spans.close();
}

/** The spans of a conversation, root first, each with the name of what it hangs below. */
function traceOf(receiver: OtlpReceiver, index: number): readonly TakenSpan[] {
  const all = receiver.spans();
  const isOf = (span: TakenSpan): boolean =>
    span.parentSpanId === undefined &&
    JSON.stringify(attributesOf(span)).includes(conversationAt(index)) &&
    span.name === 'conversation';
  const root = all.find(isOf);
  return all.filter(({ traceId }) => traceId === root?.traceId);
}

function edgesOf(spans: readonly TakenSpan[]): readonly string[] {
  const nameOf = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  const edges = spans.map(
    ({ name, parentSpanId }) => `${nameOf.get(parentSpanId ?? '') ?? parentSpanId ?? 'nothing'} > ${name}`,
  );
  return [...new Set(edges)].sort();
}

describeWith('temporal', 'the trace of a conversation', () => {
  let server: DevServer;
  let embedded: OtlpReceiver;
  let temporal: OtlpReceiver;
  beforeAll(async () => {
    [server, embedded, temporal] = await Promise.all([
      startServerForTests(),
      openOtlpReceiver(),
      openOtlpReceiver(),
    ]);
  }, SLOW_MS);
  afterAll(async () => {
    await Promise.all([server?.stop(), embedded?.close(), temporal?.close()]);
  }, SLOW_MS);

  it(
    'is told by both engines',
    async () => {
      await Promise.all([onEmbedded(embedded), onTemporal(temporal, server)]);
      for (const { paths } of [embedded, temporal]) expect(new Set(paths)).toEqual(new Set(['/v1/traces']));
      await eventually(() => traceOf(temporal, SILENT).length > 0, true);
    },
    SLOW_MS,
  );

  it('has its name between the root and what was done, and tags and metadata on the root', () => {
    for (const receiver of [embedded, temporal]) {
      const spans = traceOf(receiver, NAMED);
      const edges = edgesOf(spans);
      expect(edges).toEqual(
        expect.arrayContaining([
          'nothing > conversation',
          'conversation > nightly-refactoring',
          'nightly-refactoring > placeConversation',
          'nightly-refactoring > openAgent',
          'nightly-refactoring > watchAgent',
        ]),
      );
      expect(edges.filter((edge) => !edge.startsWith('nightly-refactoring > ')).length).toBe(2);
      const root = attributesOf(spans.find(({ name }) => name === 'conversation'));
      expect(root).toMatchObject({
        'parley.observability_tags': {
          arrayValue: { values: [{ stringValue: 'nightly' }, { stringValue: 'search & index' }] },
        },
        'parley.observability_metadata.team': { stringValue: 'search' },
        'parley.observability_metadata.attempt': { intValue: '2' },
        'parley.observability_metadata.ratio': { doubleValue: 0.5 },
        'parley.observability_metadata.dry': { boolValue: true },
        'parley.observability_metadata.sizes': {
          arrayValue: { values: [{ doubleValue: 1 }, { doubleValue: 2.5 }, { doubleValue: 3 }] },
        },
        'parley.observability_metadata.names': {
          arrayValue: { values: [{ stringValue: 'a' }, { stringValue: 'b' }] },
        },
        'parley.observability_metadata.no': { arrayValue: { values: [] } },
      });
    }
  });

  it('has no span between where no name is given, and says nothing where nothing is said', () => {
    for (const receiver of [embedded, temporal]) {
      for (const index of [UNNAMED, SILENT]) {
        const spans = traceOf(receiver, index);
        expect(edgesOf(spans)).toEqual(
          expect.arrayContaining(['nothing > conversation', 'conversation > openAgent']),
        );
        const said = Object.keys(attributesOf(spans.find(({ name }) => name === 'conversation')));
        const isSaid = said.some((key) => key.startsWith('parley.observability_'));
        expect(isSaid).toBe(index === UNNAMED);
      }
    }
  });

  it('is the same on both engines, and so are the ids of trace, root and named span', () => {
    for (const index of [NAMED, UNNAMED, SILENT]) {
      const [one, other] = [traceOf(embedded, index), traceOf(temporal, index)];
      expect(edgesOf(other)).toEqual(edgesOf(one));
      const ids = (spans: readonly TakenSpan[]) =>
        spans
          .filter(({ name }) => name === 'conversation' || name === OBSERVABILITY.spanName)
          .map(({ traceId, spanId }) => `${traceId} ${spanId}`);
      expect(ids(other)).toEqual(ids(one));
    }
  });
});
