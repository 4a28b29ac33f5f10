/** `parley serve` on either engine: the same life of a conversation, and the same trace of its start request (D21). */
import { expect, it, onTestFinished } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { attributesOf, openOtlpReceiver, type TakenSpan } from '../temporal/support/otlp-receiver.ts';
import { PLAIN, serve } from './served.ts';
import { eventually } from './service.ts';
import { walkServed } from './served-walk.ts';

const ALL_MS_MAX = 600_000;

/** The engine's part of the configuration. */
async function engineOf(kind: 'embedded' | 'temporal'): Promise<string> {
  if (kind === 'embedded') return '';
  const server = await startServerForTests();
  onTestFinished(() => server.stop());
  return `engine: { kind: temporal, address: "${server.address}" }\n`;
}

function traceOf(spans: readonly TakenSpan[], id: string): readonly TakenSpan[] {
  const root = spans.find(
    (span) => span.name === 'conversation' && JSON.stringify(attributesOf(span)).includes(id),
  );
  return spans.filter(({ traceId }) => traceId === root?.traceId);
}

describeWith('temporal', 'parley serve', () => {
  it.each(['embedded', 'temporal'] as const)(
    'on %s: a life from start to deletion, told to a stream and a collector',
    async (kind) => {
      const receiver = await openOtlpReceiver();
      onTestFinished(() => receiver.close());
      const served = await serve(tempDir(), {
        config: `${PLAIN}${await engineOf(kind)}`,
        env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      });
      const { id, frames } = await walkServed(served, served.key ?? '');
      expect(frames.join('')).toMatch(/first[\s\S]*second[\s\S]*third[\s\S]*event: deleted/);
      expect(await served.end('SIGTERM'), served.notices()).toBe(0);
      const spans = await eventually(
        () => Promise.resolve(traceOf(receiver.spans(), id)),
        (found) => found.length > 0,
      );
      const named = spans.find(({ name }) => name === 'nightly-refactoring');
      const root = spans.find(({ name }) => name === 'conversation');
      expect([root?.parentSpanId, named?.parentSpanId]).toEqual([undefined, root?.spanId]);
      const below = spans.filter(({ parentSpanId }) => parentSpanId === named?.spanId);
      expect(below.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['placeConversation', 'openAgent']),
      );
      expect(attributesOf(root)).toMatchObject({
        'parley.observability_tags': {
          arrayValue: { values: [{ stringValue: 'nightly' }, { stringValue: 'search & index' }] },
        },
        'parley.observability_metadata.team': { stringValue: 'search' },
        'parley.observability_metadata.attempt': { intValue: '2' },
        'parley.observability_metadata.dry': { boolValue: true },
        'parley.observability_metadata.sizes': {
          arrayValue: { values: [{ doubleValue: 1 }, { doubleValue: 2.5 }] },
        },
      });
    },
    ALL_MS_MAX,
  );
});
