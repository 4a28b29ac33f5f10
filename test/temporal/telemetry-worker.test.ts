/** What workers on a real server show of their work: metrics on a page, and a conversation's life as spans. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { WorkflowClient } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ParleyError } from '../../core/parley-error.ts';
import { systemClock } from '../../engine/system-clock.ts';
import { carrierActivities, type CarrierOptions } from '../../temporal/carrier.ts';
import { freePort } from '../../loopback/free-port.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { EntityClient } from '../../temporal/entity-client.ts';
import type { WarmMeter } from '../../ports/warm-meter.ts';
import { openMeters } from '../../telemetry/meters.ts';
import { metricsTelemetry } from '../../telemetry/metrics-endpoint.ts';
import { observed, observedTombstones } from '../../temporal/observe.ts';
import { traceIdOf, workSpanId, type Span } from '../../telemetry/span.ts';
import { tombstones } from '../../temporal/tombstones.ts';
import { startWorkers } from '../../temporal/worker.ts';
import { conversationAt, message, newStore, started } from '../engine/engine-harness.ts';
import { reportOf, sandboxOf } from '../engine/fake-activities.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { BUNDLE } from './support/deployment.ts';
import { eventually, SLOW_MS, untilConversation, untilEnded } from './support/eventually.ts';
import { watchingFakes } from './support/watching-fakes.ts';

const SECRET = 'do not tell anybody';
const TAGS = { team: 'search', ticket: 'P-17' };

let server: DevServer;
let port: number;
/** Open until the end: the runtime, and its page, go with the last user of it. */
let connection: NativeConnection;
const spans: Span[] = [];

/** Lives on one worker until after its end: its second try opens the agent, its second poll finds it done. */
async function live(): Promise<void> {
  const store = await newStore();
  const client = new WorkflowClient({ connection });
  const clock = systemClock;
  const meters = openMeters(Runtime.instance().metricMeter);
  keepPool(meters.warm);
  const queue = `parley-${randomBytes(6).toString('hex')}`;
  const stones = observedTombstones(tombstones(store.engine, clock), { meters });
  const entities = new EntityClient({ client, queue, eventsMax: 2_000, tombstones: stones, clock });
  let polls = 0;
  const { activities } = watchingFakes(
    clock,
    {
      openAgent: ({ id: commandId, generation }, { attempt }) => {
        if (attempt === 0) throw new ParleyError('agent_unreachable', SECRET);
        return { type: 'agentOpened', commandId, report: reportOf('IDLE', clock.now(), generation) };
      },
    },
    {
      watchAgent: ({ id: commandId, generation }) => {
        polls += 1;
        if (polls === 1) return { kind: 'again', at: clock.now() + 100, memory: null };
        const report = reportOf('FINISHED', clock.now(), generation);
        return { kind: 'over', event: { type: 'agentReported', commandId, report } };
      },
    },
  );
  const options: CarrierOptions = {
    store: store.engine,
    send: (envelope) => entities.send(envelope),
    activities,
    clock,
  };
  const sink = { add: (span: Span) => void spans.push(span) };
  const workers = await startWorkers({
    connection,
    namespace: 'default',
    queue,
    activities: carrierActivities(observed(options, { meters, spans: sink })),
    bundlePath: BUNDLE,
    extra: { shutdownGraceTime: 100 },
  });
  const id = conversationAt(1);
  const initialMessage = { messageId: 'first', text: SECRET, run: true };
  await entities.requests.deliver(started(1, { title: 'Fix the index', tags: TAGS, initialMessage }));
  await untilConversation({ store }, id, { executionStatus: 'FINISHED', queuedMessages: 0 });
  const event = { type: 'deleteRequested', requestId: 'delete' } as const;
  await entities.requests.deliver({ to: { machine: 'conversation', id }, event });
  await untilEnded({ client }, `conversation/${id}`);
  await untilEnded({ client }, `sandbox/${sandboxOf(id)}`);
  await entities.requests.deliver(message(1, 'late'));
  await workers.stop();
}

/** As the keeper of a warm pool counts, and a placement that claims from it. */
function keepPool(warm: WarmMeter): void {
  warm.held({ wanted: 3, booting: 1, ready: 2, leaving: 0 });
  warm.claim('claimed');
  warm.claim('lost');
  warm.gaveUp();
}

async function page(): Promise<readonly string[]> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  return (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** The value of the series with that name and, among others, these labels. */
async function valueOf(name: string, labels: Readonly<Record<string, string>>): Promise<number> {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const lines = (await page()).filter(
    (line) => line.startsWith(`${name}{`) && wanted.every((one) => line.includes(one)),
  );
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

describeWith('temporal', 'a worker that is watched', () => {
  beforeAll(async () => {
    port = await freePort();
    Runtime.install({
      logger: new DefaultLogger('ERROR'),
      telemetryOptions: {
        ...metricsTelemetry({ host: '127.0.0.1', port }),
        logging: { forward: {}, filter: { core: 'ERROR', other: 'ERROR' } },
      },
    });
    server = await startServerForTests();
    connection = await NativeConnection.connect({ address: server.address });
  }, SLOW_MS);
  afterAll(async () => {
    await connection?.close();
    await server?.stop();
  }, SLOW_MS);

  it(
    'counts commands, tries, looks, letters, rows and what it answered for the ended',
    async () => {
      await live();
      const conversation = { machine: 'conversation' };
      const openAgent = { command: 'openAgent' };
      const watchAgent = { command: 'watchAgent' };
      await eventually(() => valueOf('parley_tries_total', { ...openAgent, outcome: 'failed' }), 1);
      expect(await valueOf('parley_tries_total', { ...openAgent, outcome: 'answered' })).toBe(1);
      expect(await valueOf('parley_commands_total', { ...openAgent, outcome: 'answered' })).toBe(1);
      expect(await valueOf('parley_try_duration_seconds_count', openAgent)).toBe(2);
      expect(await valueOf('parley_polls_total', { ...watchAgent, outcome: 'again' })).toBe(1);
      expect(await valueOf('parley_polls_total', { ...watchAgent, outcome: 'over' })).toBe(1);
      expect(
        await valueOf('parley_messages_sent_total', { machine: 'sandbox', outcome: 'sent' }),
      ).toBeGreaterThan(0);
      expect(await valueOf('parley_rows_written_total', { table: 'conversation' })).toBeGreaterThan(5);
      expect(await valueOf('parley_tombstone_answers_total', conversation)).toBe(1);
      expect(await valueOf('parley_warm_sandboxes', { state: 'ready' })).toBe(2);
      expect(await valueOf('parley_warm_claims_total', { outcome: 'lost' })).toBe(1);
      expect(await valueOf('parley_warm_sandboxes', { state: 'wanted' })).toBe(3);
      const names = (await page()).map((line) => line.slice(0, line.search(/[{ ]/)));
      expect(names).toEqual(
        expect.arrayContaining([
          'temporal_workflow_task_schedule_to_start_latency_seconds_count',
          'temporal_activity_schedule_to_start_latency_seconds_count',
          'temporal_worker_task_slots_available',
        ]),
      );
      expect((await page()).join('\n')).not.toContain(conversationAt(1));
      expect(await page()).toEqual(expect.arrayContaining([expect.stringContaining('le="1800"')]));
      const own = names.filter((name) => name.startsWith('parley_'));
      const explained = readFileSync('docs/temporal-metrics.md', 'utf8').match(/(?<=^\| `)parley_\w+/gm);
      expect(new Set(own.map((name) => name.replace(/_(bucket|count|sum)$/, '')))).toEqual(
        new Set(explained),
      );
    },
    SLOW_MS,
  );

  it('tells the life of a conversation as one trace, with its tags, and without what was said', () => {
    const address = { machine: 'conversation', id: conversationAt(1) } as const;
    const own = spans.filter(({ traceId }) => traceId === traceIdOf(address));
    const roots = own.filter(({ parentSpanId }) => parentSpanId === null);
    expect(roots.map(({ name, spanId }) => [name, spanId])).toEqual([['conversation', workSpanId(address)]]);
    expect(roots[0]?.attributes).toMatchObject({
      'parley.conversation_id': conversationAt(1),
      'parley.title': 'Fix the index',
      'parley.tag.team': 'search',
      'parley.tag.ticket': 'P-17',
    });
    const below = own.filter(({ parentSpanId }) => parentSpanId === workSpanId(address));
    expect(below.length).toBe(own.length - 1);
    expect(below.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'placeConversation',
        'openAgent',
        'deliverItem',
        'watchAgent',
        'removeConversation',
      ]),
    );
    const tries = below.filter(({ name }) => name === 'openAgent');
    expect(tries.map(({ errorCode, attributes }) => [errorCode, attributes['parley.attempt']])).toEqual([
      ['agent_unreachable', 0],
      [null, 1],
    ]);
    expect(below.find(({ name }) => name === 'watchAgent')?.attributes['parley.looks']).toBe(2);
    expect(new Set(own.map(({ spanId }) => spanId)).size).toBe(own.length);
    for (const { startMs, endMs } of own) expect(endMs).toBeGreaterThanOrEqual(startMs);
  });

  it('tells its sandbox as a trace of its own', () => {
    const address = { machine: 'sandbox', id: sandboxOf(conversationAt(1)) } as const;
    const own = spans.filter(({ traceId }) => traceId === traceIdOf(address));
    expect(own.filter(({ parentSpanId }) => parentSpanId === null).map(({ name }) => name)).toEqual([
      'sandbox',
    ]);
    expect(own.map(({ name }) => name)).toEqual(expect.arrayContaining(['createSandbox', 'destroySandbox']));
    expect(JSON.stringify(spans)).not.toContain(SECRET);
  });
});
