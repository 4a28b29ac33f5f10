/** A process that only sends requests says when no worker serves them: when it polls, and what a server answers. */
import { Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Closers } from '../../host/closers.ts';
import { openRequests, hasWorker, watchForWorkers } from '../../host/engines/temporal-client.ts';
import { loadDeployment } from '../../host/config/load-deployment.ts';
import { SEAL_KEY_BYTES, sealKey } from '../../store/access/seal-key.ts';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { newStore, started } from '../engine/engine-harness.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { wire } from './support/deployment.ts';
import { eventually, SLOW_MS } from './support/eventually.ts';
import { installQuietRuntime } from './support/quiet-runtime.ts';

installQuietRuntime();

const MINUTE_MS = 60_000;
const SENTENCE =
  'nobody carries this out: no worker asks for work on the queue "q"; start one with "parley worker"';

describe('watching for workers', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const watch = (answers: () => Promise<boolean>): { readonly said: string[]; stop(): void } => {
    const said: string[] = [];
    const onNotice = (text: string): void => void said.push(text);
    return { said, stop: watchForWorkers({ queue: 'q', hasWorker: answers, onNotice }) };
  };

  it('says nothing while there is one, and nothing in the first seconds', async () => {
    const { said, stop } = watch(() => Promise.resolve(true));
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    const early = watch(() => Promise.resolve(false));
    await vi.advanceTimersByTimeAsync(4_000);
    expect([said, early.said]).toEqual([[], []]);
    stop();
    early.stop();
  });

  it('says once that there is none, and again only after one was there', async () => {
    let has = false;
    const { said, stop } = watch(() => Promise.resolve(has));
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(said).toEqual([SENTENCE]);
    has = true;
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    has = false;
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(said).toEqual([SENTENCE, SENTENCE]);
    stop();
  });

  it('takes a server that does not answer for no news, and ends with its host', async () => {
    const { said, stop } = watch(() => Promise.reject(new Error('away')));
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(said).toEqual([]);
    stop();
    const ended = watch(() => Promise.resolve(false));
    ended.stop();
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(ended.said).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describeWith('temporal', 'a queue on a real server', () => {
  let server: DevServer;
  beforeAll(async () => {
    server = await startServerForTests();
  }, SLOW_MS);
  afterAll(() => server?.stop(), SLOW_MS);

  it(
    'is known to have a worker, or none',
    async () => {
      const deployment = await wire({ address: server.address });
      const connection = await Connection.connect({ address: server.address });
      onTestFinished(() => connection.close());
      const asked = { connection, namespace: 'default', queue: deployment.queue };
      expect(await hasWorker(asked)).toBe(false);
      await deployment.startWorkers();
      await eventually(() => hasWorker(asked), true);
    },
    SLOW_MS,
  );

  it(
    'makes a request without a worker say so while it waits',
    async () => {
      const said: string[] = [];
      const closers = new Closers();
      const { config } = await loadDeployment({ path: null, cwd: tempDir(), env: {} });
      if (config === null) throw new Error('the defaults are refused');
      const parts = {
        ...{ config, store: await newStore(), sealKey: sealKey(new Uint8Array(SEAL_KEY_BYTES)) },
        ...{ env: {}, closers, onFailure: () => undefined },
      };
      const requests = await openRequests(
        { ...parts, onNotice: (text) => void said.push(text) },
        { namespace: 'default', queue: 'q', address: server.address, server: null },
      );
      const asking = requests.deliver(started(1)).catch((error: unknown) => error);
      await eventually(() => said, [SENTENCE]);
      await closers.run();
      expect(await asking).toBeInstanceOf(Error);
    },
    SLOW_MS,
  );
});
