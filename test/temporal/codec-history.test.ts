/** What a real server keeps of a workflow through which a secret went everywhere, and how it becomes readable again. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Connection, type Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import {
  startCodecServer,
  payloadsFromJson,
  payloadsToJson,
  type PayloadsJson,
} from '../../cli/codec/codec-server.ts';
import { parseCodecKeys, type CodecKeys } from '../../temporal/codec/codec-keys.ts';
import { isEncrypted, keyIdOf, payloadCodecOf } from '../../temporal/codec/payload-codec.ts';
import { describeWith } from '../helpers/requires.ts';
import { removeDir } from '../helpers/temp-dir.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { buildFailureConverter, bundleTeller, playScene, rawHistory } from './codec-scene.ts';
import { payloadsIn, tracesOf } from './codec-traces.ts';
import { asked, told, type teller, type Told } from './codec-workflow.ts';
import { largeRun } from './large-run.ts';

/** Starting a server, bundling and playing on a busy machine. */
const SLOW_MS = 600_000;

/** What a server takes in one payload by default. */
const PAYLOAD_BYTES_MAX = 2 * 1024 * 1024;
/** As text they are more than that. */
const LARGE_ITEMS = 4_000;

const newSecret = (): string => `sk-planted-${randomBytes(12).toString('hex')}`;
const keys = (value: string): CodecKeys | null => parseCodecKeys(value);
const key = (): string => randomBytes(32).toString('base64');

const made = { folder: '', failureConverterPath: '' };
let server: Awaited<ReturnType<typeof startServerForTests>>;
let connection: Connection;
let bundle: WorkflowBundleWithSourceMap;

interface Played {
  /** Every event of both runs, and what describes the last one, as the server gave them. */
  readonly kept: readonly object[];
  /** Messages that the client read. */
  readonly heard: readonly string[];
}

async function play(secret: string, options: { readonly keys: CodecKeys | null }): Promise<Played> {
  const workflowId = `teller/${randomBytes(4).toString('hex')}`;
  const heard: string[] = [];
  let firstRun = '';
  await playScene(
    connection,
    { ...options, ...made, bundle, address: server.address, taskQueue: workflowId },
    async (client) => {
      firstRun = await tell(client, { workflowId, secret, heard });
    },
  );
  const events = await rawHistory(connection, { workflowId, runId: firstRun });
  const described = await connection.workflowService.describeWorkflowExecution({
    namespace: 'default',
    execution: { workflowId },
  });
  const nextRun = described.workflowExecutionInfo?.execution?.runId ?? '';
  expect(nextRun).not.toBe(firstRun);
  const next = await rawHistory(connection, { workflowId, runId: nextRun });
  return { kept: [...events, ...next, described], heard };
}

interface Telling {
  readonly workflowId: string;
  readonly secret: string;
  readonly heard: string[];
}

/** Puts the secret into arguments, memo, summaries, a signal and two updates; returns the id of the first run. */
async function tell(client: Client, { workflowId, secret, heard }: Telling): Promise<string> {
  const value = (hop: number): Told => ({ text: secret, hop });
  const handle = await client.workflow.start<typeof teller>('teller', {
    workflowId,
    taskQueue: workflowId,
    args: [value(0)],
    memo: { started: secret },
    staticSummary: secret,
    staticDetails: secret,
  });
  const answer = await handle.executeUpdate(asked, { args: [value(5)] });
  heard.push(answer.text);
  const refused: unknown = await handle
    .executeUpdate(asked, { args: [value(-1)] })
    .catch((error: unknown) => error);
  heard.push(causesOf(refused));
  await handle.signal(told, value(6));
  heard.push(causesOf(await handle.result().catch((error: unknown) => error)));
  return handle.firstExecutionRunId;
}

function causesOf(error: unknown): string {
  return error instanceof Error ? `${error.message} < ${causesOf(error.cause)}` : '';
}

describeWith('temporal', 'payloads on a real server', () => {
  beforeAll(async () => {
    made.folder = mkdtempSync(path.join(os.tmpdir(), 'parley-'));
    made.failureConverterPath = await buildFailureConverter(made.folder);
    [server, bundle] = await Promise.all([startServerForTests(), bundleTeller()]);
    connection = await Connection.connect({ address: server.address });
  }, SLOW_MS);

  afterAll(async () => {
    await connection?.close();
    await server?.stop();
    removeDir(made.folder);
  }, SLOW_MS);

  it(
    'hold nothing that can be read without the key',
    async () => {
      const secret = newSecret();
      const { kept, heard } = await play(secret, { keys: keys(`first:${key()}`) });
      expect(heard).toEqual([
        secret,
        `Workflow Update failed < ${secret} < `,
        `Workflow execution failed < Activity task failed < cannot use ${secret} < because of ${secret} < `,
      ]);
      expect(tracesOf(kept, secret)).toEqual([]);
      expect(tracesOf(JSON.parse(JSON.stringify(kept)), secret)).toEqual([]);
      const clear = kept.flatMap(payloadsIn).filter((payload) => !isEncrypted(payload));
      expect(clear.map((payload) => Buffer.from(payload.data ?? []).toString())).toEqual([]);
      expect(new Set(kept.flatMap(payloadsIn).map(keyIdOf))).toEqual(new Set(['first']));
    },
    SLOW_MS,
  );

  it(
    'are found by the same search when they are not encrypted, at every place',
    async () => {
      const secret = newSecret();
      const { kept } = await play(secret, { keys: null });
      const traces = tracesOf(kept, secret).join('\n');
      for (const place of [
        'workflowExecutionStartedEventAttributes.input',
        'workflowExecutionStartedEventAttributes.memo',
        'workflowExecutionSignaledEventAttributes.input',
        'workflowExecutionUpdateAcceptedEventAttributes.acceptedRequest.input',
        'workflowExecutionUpdateCompletedEventAttributes.outcome.success',
        'workflowExecutionUpdateCompletedEventAttributes.outcome.failure.encodedAttributes',
        'workflowExecutionContinuedAsNewEventAttributes.input',
        'activityTaskScheduledEventAttributes.input',
        'activityTaskCompletedEventAttributes.result',
        'activityTaskFailedEventAttributes.failure.encodedAttributes',
        'activityTaskFailedEventAttributes.failure.cause.encodedAttributes',
        'workflowExecutionFailedEventAttributes.failure.cause.encodedAttributes',
        'workflowPropertiesModifiedEventAttributes.upsertedMemo',
        'userMetadata.summary',
        'userMetadata.details',
      ]) {
        expect(traces).toContain(place);
      }
      expect(tracesOf(JSON.parse(JSON.stringify(kept)), secret)).not.toEqual([]);
    },
    SLOW_MS,
  );

  it(
    'become readable by the codec server, also after the key was rotated',
    async () => {
      const secret = newSecret();
      const old = `old:${key()}`;
      const { kept } = await play(secret, { keys: keys(old) });
      const codecServer = await startCodecServer({
        codec: payloadCodecOf(keys(`new:${key()},${old}`)),
        host: '127.0.0.1',
        port: 0,
        allowedOrigins: [],
        token: null,
      });
      onTestFinished(() => codecServer.close());
      const sealed = kept.flatMap(payloadsIn);
      const opened = await decode(codecServer.url, sealed);
      expect(opened.length).toBe(sealed.length);
      expect(opened.filter(isEncrypted)).toEqual([]);
      const texts = opened.map((payload) => Buffer.from(payload.data ?? []).toString());
      for (const value of [
        secret,
        { text: secret, hop: 0 },
        { text: secret, hop: 5 },
        { text: secret, hop: 6 },
        { text: secret, hop: 1 },
      ]) {
        expect(texts).toContain(JSON.stringify(value));
      }
      const messages = texts.map(
        (text) => (JSON.parse(text || 'null') as { message?: string } | null)?.message,
      );
      expect(messages).toEqual(
        expect.arrayContaining([secret, `cannot use ${secret}`, `because of ${secret}`]),
      );
    },
    SLOW_MS,
  );

  it.each([
    ['without keys', null],
    ['with a key', keys(`first:${key()}`)],
  ])(
    'may be larger than a server takes, in both directions, %s',
    async (_name, keysOfAll) => {
      const workflowId = `teller/${randomBytes(4).toString('hex')}`;
      const scene = { keys: keysOfAll, ...made, bundle, address: server.address, taskQueue: workflowId };
      const large = { text: JSON.stringify(largeRun(LARGE_ITEMS)), hop: 7 };
      expect(large.text.length).toBeGreaterThan(PAYLOAD_BYTES_MAX);
      let runId = '';
      await playScene(connection, scene, async (client) => {
        const args: [Told] = [{ text: 'small', hop: 0 }];
        const options = { workflowId, taskQueue: workflowId, args };
        const handle = await client.workflow.start<typeof teller>('teller', options);
        runId = handle.firstExecutionRunId;
        // There as an argument, back as a result.
        expect(await handle.executeUpdate(asked, { args: [large] })).toEqual(large);
        await handle.terminate();
      });
      const kept = (await rawHistory(connection, { workflowId, runId })).flatMap(payloadsIn);
      const sizes = kept.map((payload) => payload.data?.length ?? 0).filter((size) => size > 10_000);
      expect(sizes).toHaveLength(2);
      expect(Math.max(...sizes)).toBeLessThan(PAYLOAD_BYTES_MAX / 3);
    },
    SLOW_MS,
  );
});

async function decode(url: string, payloads: readonly Payload[]): Promise<readonly Payload[]> {
  const response = await fetch(`${url}/decode`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-namespace': 'default' },
    body: JSON.stringify(payloadsToJson(payloads)),
  });
  expect(response.status).toBe(200);
  return payloadsFromJson((await response.json()) as PayloadsJson);
}
