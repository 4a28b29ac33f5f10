/**
 * A batch by a real worker process, one with encrypted payloads, and one on the embedded engine: what they show while
 * they work, what the server keeps of them, and whether it can be replayed.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Connection, WorkflowClient } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKeyMinter } from '../../store/spend/key-minter.ts';
import { loadSealKey } from '../../store/access/seal-key.ts';
import { freePort } from '../../loopback/free-port.ts';
import { connectionOptions } from '../../temporal/server-address.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import {
  attributesOf,
  openOtlpReceiver,
  type OtlpReceiver,
  type TakenSpan,
} from '../temporal/support/otlp-receiver.ts';
import { TOKEN } from './batch-copy.ts';
import { runStatus } from './run-status.ts';
import { runProgram, type ProgramEnd } from './running-program.ts';
import { formIn, secretForms } from './secret-forms.ts';
import { openTemporalBatch, type TemporalBatch } from './temporal-batch.ts';
import { keptOf, type Kept } from './temporal-kept.ts';
import { codecKeysOf, knownSealKey } from '../../host/engines/temporal-codec.ts';
import { parseCodecKeys, type CodecKeys } from '../../temporal/codec/codec-keys.ts';
import { payloadCodecOf } from '../../temporal/codec/payload-codec.ts';

/** Of one server: an id is one run's. */
const RUN_ID = 'first-batch-watched';
const SEALED_ID = 'first-batch-sealed';
const ALL_MS_MAX = 600_000;
const CODEC_KEYS = `first:${Buffer.alloc(32, 7).toString('base64')}`;
const HOST_TOKEN = 'planted-host/Token+of=the&code?host';
/** Of the job: what an agent is asked to do. */
const PROMPT = 'Add an ES module entry to this package';

interface Done {
  readonly batch: TemporalBatch;
  readonly end: ProgramEnd;
  readonly kept: Kept;
  /** By what it is. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** The token of the code host stands in the deployment; the repositories themselves need none. */
async function openBatch(env: Readonly<Record<string, string>>): Promise<TemporalBatch> {
  const batch = await openTemporalBatch({ ...env, PLANTED_HOST_TOKEN: HOST_TOKEN });
  const file = path.join(batch.copy.example, 'parley.yaml');
  const text = readFileSync(file, 'utf8');
  const planted = text.replace('default: true }', 'default: true, token: os.environ/PLANTED_HOST_TOKEN }');
  if (planted === text) throw new Error('the deployment has no code host to plant a token in');
  writeFileSync(file, planted);
  return batch;
}

/** Of a deployment that sets none: made of its seal key. */
function keysOf(batch: TemporalBatch): CodecKeys | null {
  return codecKeysOf({ env: {}, sealKey: knownSealKey({}, batch.copy.dataDir) });
}

async function secretsOf(batch: TemporalBatch, runId: string): Promise<Readonly<Record<string, string>>> {
  const env = { ...batch.copy.env, PLANTED_HOST_TOKEN: HOST_TOKEN };
  const status = await runStatus({ ...batch.copy, env }, runId);
  const file = path.join(batch.copy.dataDir, 'seal.key');
  const keys = createKeyMinter(loadSealKey({ env: undefined, path: file }));
  const derived = (status?.items ?? []).flatMap(
    ({ key, conversation_id: conversation, sandbox_id: sandbox }) =>
      [1, 2].flatMap((generation) => [
        [`session key ${generation} of ${key}`, keys.sessionKey(sandbox as never, generation)],
        [`proxy key ${generation} of ${key}`, keys.proxyKey(conversation as never, generation)],
      ]),
  );
  return {
    'job secret': TOKEN,
    'token of the code host': HOST_TOKEN,
    'key of the gateway': batch.gateway.env['PARLEY_GATEWAY_KEY'] ?? '',
    'seal key': readFileSync(file, 'utf8').trim(),
    ...(Object.fromEntries(derived) as Record<string, string>),
  };
}

/** What holds a secret in one of its spellings, by the name of the secret. */
function found({ kept, secrets }: Done): readonly string[] {
  const places = [...kept.texts.map((text) => Buffer.from(text)), ...kept.data, ...kept.opened];
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const forms = secretForms(secret);
    return places.flatMap((bytes) => (formIn(bytes, forms) === null ? [] : [name]));
  });
}

const holds = (places: readonly (Buffer | string)[], text: string): boolean =>
  places.some((place) => secretForms(text).some((form) => place.includes(form)));

describeWith('temporal', 'a batch that is looked at', () => {
  const closing: (() => Promise<void>)[] = [];
  let server: DevServer;
  let [onTemporal, onEmbedded]: OtlpReceiver[] = [];
  let plain: Done & { readonly metrics: string; readonly worker: ProgramEnd };
  let sealed: Done;

  async function byWorker(): Promise<typeof plain> {
    const [port, receiver] = await Promise.all([freePort(), openOtlpReceiver()]);
    closing.push(() => receiver.close());
    onTemporal = receiver;
    const batch = await openBatch({
      PARLEY_TASK_QUEUE: 'plain',
      PARLEY_METRICS: `127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    });
    closing.push(() => batch.close());
    const worker = await batch.startWorker(server.address);
    const run = ['run', 'job.yaml', '--json', '--run-id', RUN_ID, '--engine', 'temporal'];
    // A command that only sends requests shows no metrics: the worker has the page.
    const end = await batch.start(run, server.address).ended;
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    process.kill(worker.pid, 'SIGTERM');
    const ended = await worker.ended;
    const [kept, secrets] = await Promise.all([
      keptOf(server, 'plain', keysOf(batch)),
      secretsOf(batch, RUN_ID),
    ]);
    return { batch, end, kept, secrets, metrics, worker: ended };
  }

  async function withKeys(): Promise<Done> {
    const batch = await openBatch({ PARLEY_TASK_QUEUE: 'sealed', PARLEY_TEMPORAL_CODEC_KEYS: CODEC_KEYS });
    closing.push(() => batch.close());
    const run = ['run', 'job.yaml', '--json', '--run-id', SEALED_ID, '--engine', 'temporal'];
    const end = await batch.start(run, server.address).ended;
    const [kept, secrets] = await Promise.all([
      keptOf(server, 'sealed', parseCodecKeys(CODEC_KEYS)),
      secretsOf(batch, SEALED_ID),
    ]);
    return { batch, end, kept, secrets };
  }

  async function embedded(): Promise<ProgramEnd> {
    const receiver = await openOtlpReceiver();
    closing.push(() => receiver.close());
    onEmbedded = receiver;
    const batch = await openBatch({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
    closing.push(() => batch.close());
    return await batch.start(['run', 'job.yaml', '--json', '--run-id', RUN_ID]).ended;
  }

  beforeAll(async () => {
    server = await startServerForTests();
    let end: ProgramEnd;
    [plain, sealed, end] = await Promise.all([byWorker(), withKeys(), embedded()]);
    for (const one of [plain.end, plain.worker, sealed.end, end]) expect(one.code, one.stderr).toBe(0);
  }, ALL_MS_MAX);
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
    await server?.stop();
  });

  it('says where the metrics are, and shows its own beside those of the package', () => {
    expect(plain.worker.stdout).toMatch(/^metrics +http:\/\/127\.0\.0\.1:\d+\/metrics$/m);
    expect(plain.metrics).toMatch(/^parley_tries_total\{.*command="openAgent".*\} \d/m);
    expect(plain.metrics).toMatch(/^parley_rows_written_total\{.*table="conversation".*\} \d/m);
    expect(plain.metrics).toMatch(/^temporal_workflow_task_schedule_to_start_latency_seconds_count\{/m);
    expect(plain.metrics).toMatch(/^temporal_worker_task_slots_available\{/m);
  });

  it('tells the same traces on both engines', () => {
    const [one, other] = [tracesOf(onTemporal), tracesOf(onEmbedded)];
    expect(one.size).toBeGreaterThan(4);
    expect(one).toEqual(other);
    const conversation = [...one.values()].find((names) => names.includes('conversation'));
    expect(conversation).toEqual(expect.arrayContaining(['placeConversation', 'openAgent', 'deliverItem']));
    const bodies = [onTemporal, onEmbedded].flatMap((receiver) => receiver?.bodies ?? []);
    expect(holds(bodies, PROMPT)).toBe(false);
    for (const secret of Object.values(plain.secrets)) expect(holds(bodies, secret)).toBe(false);
  });

  it('leaves no secret in any history, record or failure, encrypted or not', () => {
    expect(plain.kept.workflowIds.length).toBeGreaterThan(5);
    expect([...plain.kept.workflowIds].sort()).toEqual([...new Set(plain.kept.workflowIds)].sort());
    expect(Object.keys(plain.secrets).length).toBeGreaterThan(10);
    expect(found(plain)).toEqual([]);
    expect(found(sealed)).toEqual([]);
  });

  it('leaves no word of the job in clear, whether keys are set or not', () => {
    for (const { kept } of [plain, sealed]) {
      expect(holds([...kept.texts, ...kept.data], PROMPT)).toBe(false);
      expect(holds(kept.opened, PROMPT)).toBe(true);
    }
    const clear = [...plain.kept.clear, ...sealed.kept.clear].map(({ data }) =>
      Buffer.from(data ?? []).toString(),
    );
    expect(clear.filter((text) => !isOfThePackage(text))).toEqual([]);
  });

  const parley = ({ copy, gateway }: TemporalBatch, args: readonly string[], env = {}): Promise<ProgramEnd> =>
    runProgram(copy, 'bin/parley.js', args, {
      ...gateway.env,
      PLANTED_HOST_TOKEN: HOST_TOKEN,
      TEMPORAL_ADDRESS: server.address,
      ...env,
    });
  const replayQuery = (queue: string): readonly string[] => [
    ...['temporal', 'replay', '--json', '--query', `TaskQueue = '${queue}'`],
  ];

  it(
    'is replayed by this build, from the server and from files',
    async () => {
      const ofServer = await parley(plain.batch, replayQuery('plain'));
      expect(ofServer.code, ofServer.stderr).toBe(0);
      const records = recordsIn(ofServer.stdout).filter(({ type }) => type === 'replayed');
      expect(records.map(({ workflow_id: id }) => id).sort()).toEqual([...plain.kept.workflowIds].sort());
      expect(records.every(({ problem }) => problem === null)).toBe(true);
      const folder = path.join(plain.batch.copy.root, 'histories');
      mkdirSync(folder);
      for (const [at, text] of [...plain.kept.histories.values()].entries())
        writeFileSync(path.join(folder, `${at}.json`), text);
      const ofFiles = await parley(plain.batch, ['temporal', 'replay', folder]);
      expect(ofFiles.code, ofFiles.stderr).toBe(0);
      expect(ofFiles.stdout).toContain(`${records.length} of ${records.length} replayed\n`);
    },
    ALL_MS_MAX,
  );

  it(
    'is not replayed when a history was changed, is of another program, or is none',
    async () => {
      const [id, text] =
        [...plain.kept.histories].find(([workflowId]) => workflowId.startsWith('run/')) ?? [];
      const replayed = async (content: string): Promise<ProgramEnd> => {
        const file = path.join(plain.batch.copy.root, 'history.json');
        writeFileSync(file, content);
        return await parley(plain.batch, ['temporal', 'replay', file]);
      };
      const events = (JSON.parse(text ?? '') as { readonly events: readonly Record<string, unknown>[] })
        .events;
      const without = events.filter((event) => !('markerRecordedEventAttributes' in event));
      expect(without.length).toBeLessThan(events.length);
      const changed = await replayed(JSON.stringify({ events: without }));
      expect(changed.code, changed.stderr).toBe(1);
      expect(changed.stdout).toMatch(
        new RegExp(`^failed  ${String(id)}  history\\.json  \\d+ events: \\S`, 'm'),
      );
      expect(changed.stdout).toContain('0 of 1 replayed\n');
      const foreign = await replayed((text ?? '').replace('"name":"run"', '"name":"somebodyElses"'));
      expect(foreign.code, foreign.stderr).toBe(1);
      expect(foreign.stdout).toMatch(/^failed .*somebodyElses/m);
      for (const end of [changed, foreign]) expect(end.stderr).not.toMatch(/^\s+at /m);
      const none = await replayed('{"events": [');
      expect(none.code).toBe(2);
      expect(none.stderr).toMatch(
        /^parley: Cannot replay ".*history\.json": \S.*\n {2}= give a file, or a folder/m,
      );
    },
    ALL_MS_MAX,
  );

  it(
    'is replayed with the key that sealed it, and not without',
    async () => {
      const keys = { PARLEY_TEMPORAL_CODEC_KEYS: CODEC_KEYS };
      expect(await parley(sealed.batch, replayQuery('sealed'), keys)).toMatchObject({ code: 0, stderr: '' });
      expectMissingKey(await parley(sealed.batch, replayQuery('sealed')));
    },
    ALL_MS_MAX,
  );

  it(
    'ends a worker that has no key for what is left open of it',
    async () => {
      const client = await Connection.connect(connectionOptions(server));
      const dataConverter = { payloadCodecs: [payloadCodecOf(parseCodecKeys(CODEC_KEYS))] };
      const workflows = new WorkflowClient({ connection: client, dataConverter });
      await workflows.start('conversation', {
        workflowId: `conversation/${'0'.repeat(32)}`,
        taskQueue: 'sealed',
        args: [{ queue: 'sealed', eventsMax: 2_000, shown: '', carried: null }],
      });
      await client.close();
      const worker = await parley(sealed.batch, ['worker', '--engine', 'temporal'], {
        PARLEY_TASK_QUEUE: 'sealed',
      });
      expectMissingKey(worker);
    },
    ALL_MS_MAX,
  );
});

function expectMissingKey({ code, stderr }: ProgramEnd): void {
  expect(stderr).toMatch(
    /^parley: Cannot decrypt a payload: the key "first" is not configured; add it under that id to PARLEY_/m,
  );
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(code, stderr).toBe(2);
}

function recordsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** What the package notes of a local activity and of a cancelled one, below any codec: numbers, names and instants. */
function isOfThePackage(text: string): boolean {
  if (text === '"ACTIVITY_ID_NOT_STARTED"') return true;
  const note = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const known = ['seq', 'attempt', 'activity_id', 'activity_type', 'complete_time', 'backoff'];
  const names = Object.keys(note).filter((name) => name !== 'original_schedule_time');
  return names.join() === known.join() && /^(announce|takeUp)$/.test(String(note['activity_type']));
}

/**
 * The end of an agent is reported by the agent, or found by a poll meanwhile: whichever is first ends
 * the watch, and only a watch that found it has a span. Which one it is says nothing about an engine.
 */
const BY_CHANCE = 'watchAgent';

/** Names of the spans of each entity, by what its root says it is. */
function tracesOf(receiver: OtlpReceiver | undefined): ReadonlyMap<string, readonly string[]> {
  const spans = receiver?.spans() ?? [];
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
  return new Map(
    roots
      .map((root): [string, readonly string[]] => {
        const names = spans.filter(({ traceId }) => traceId === root.traceId).map(({ name }) => name);
        return [titleOf(root), [...new Set(names)].filter((name) => name !== BY_CHANCE).sort()];
      })
      .sort(([one], [other]) => one.localeCompare(other)),
  );
}

/** Sandboxes are made for whichever conversation came first: only their kind is compared. */
function titleOf(root: TakenSpan): string {
  const key = (attributesOf(root)['parley.key'] as { readonly stringValue?: string } | undefined)
    ?.stringValue;
  return `${root.name} ${key ?? ''}`;
}
