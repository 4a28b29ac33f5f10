/** The dev server: starts, answers, keeps a file, and ends itself and nothing else. Servers are real. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { checkServer } from '../../temporal/check-server.ts';
import { isPortFree } from '../../loopback/free-port.ts';
import type { DevServer, DevServerOptions } from '../../temporal/dev-server/start-dev-server.ts';
import { openServerClient } from '../../temporal/server-client.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { tempDir } from '../helpers/temp-dir.ts';

/** A start takes half a second on a quiet machine; a test has a few of them. */
const SLOW_MS = 600_000;

async function start(options: Partial<DevServerOptions> = {}): Promise<DevServer> {
  const server = await startServerForTests(options);
  onTestFinished(() => server.stop());
  return server;
}

async function withClient<Result>(
  server: DevServer,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const connection = openServerClient(server);
  try {
    return await work(new Client({ connection, namespace: server.namespace }));
  } finally {
    await connection.close();
  }
}

const portOf = ({ address }: DevServer): number => Number(address.split(':')[1]);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describeWith('temporal', 'startDevServer()', () => {
  it('gives a server that answers, with namespace, search attributes and user interface', async () => {
    const server = await start({ namespace: 'parley', uiPort: 0 });
    await checkServer({ address: server.address, namespace: 'parley' });
    const page = await fetch(server.uiUrl ?? '');
    expect(page.status).toBe(200);
    expect(isAlive(server.pid)).toBe(true);
  });

  it('stops, and leaves the server of somebody else alone', async () => {
    const [mine, other] = await Promise.all([start(), start()]);
    await Promise.all([mine.stop(), mine.stop()]);
    expect(await mine.ended).toMatchObject({ stopped: true });
    expect(isAlive(mine.pid)).toBe(false);
    expect(await isPortFree(portOf(mine))).toBe(true);
    await checkServer(other);
  });

  it(
    'keeps workflows in a file over a stop and a kill',
    async () => {
      const databaseFile = path.join(tempDir(), 'kept', 'temporal.db');
      const first = await start({ databaseFile, namespace: 'kept' });
      expect(existsSync(`${databaseFile}-wal`)).toBe(true);
      await withClient(first, (client) =>
        client.workflow.start('nobody', { workflowId: 'a', taskQueue: 'q' }),
      );
      await first.stop();

      const second = await start({ databaseFile, namespace: 'kept', port: portOf(first) });
      expect(second.address).toBe(first.address);
      await withClient(second, async (client) => {
        expect((await client.workflow.getHandle('a').describe()).status.name).toBe('RUNNING');
        await client.workflow.start('nobody', { workflowId: 'b', taskQueue: 'q' });
      });
      process.kill(second.pid, 'SIGKILL');
      expect(await second.ended).toMatchObject({ stopped: false });

      const third = await start({ databaseFile, namespace: 'kept' });
      await withClient(third, async (client) => {
        expect((await client.workflow.getHandle('b').describe()).status.name).toBe('RUNNING');
      });
    },
    SLOW_MS,
  );

  it(
    'adds what a file of an earlier start lacks',
    async () => {
      const databaseFile = path.join(tempDir(), 'temporal.db');
      await (await start({ databaseFile })).stop();
      const later = await start({ databaseFile, namespace: 'later' });
      await checkServer({ address: later.address, namespace: 'later' });
    },
    SLOW_MS,
  );

  it('refuses a port that is taken', async () => {
    const port = portOf(await start());
    await expect(startServerForTests({ port })).rejects.toMatchObject({
      code: 'engine_misconfigured',
      message: `Cannot start a Temporal server: port ${port} is taken`,
      remedy: 'end what listens there, or choose another port',
    });
  });

  it('says what the server said when it cannot start', async () => {
    const databaseFile = path.join(tempDir(), 'temporal.db');
    writeFileSync(databaseFile, 'no database, and longer than the header of one would be'.repeat(100));
    await expect(startServerForTests({ databaseFile })).rejects.toMatchObject({
      code: 'engine_unreachable',
      message: expect.stringMatching(/^Cannot start a Temporal server: it said ".*database.*"$/) as string,
    });
  });

  it('ends with its signal, before and after it answers', async () => {
    const abort = new AbortController();
    const server = await start({ signal: abort.signal });
    abort.abort(new Error('enough'));
    expect(await server.ended).toMatchObject({ stopped: true });
    const lines: string[] = [];
    const early = new AbortController();
    const starting = startServerForTests({
      signal: early.signal,
      logLevel: 'info',
      onLogLine: (line) => {
        lines.push(line);
        early.abort(new Error('enough'));
      },
    });
    await expect(starting).rejects.toThrow('enough');
    expect(lines).not.toEqual([]);
  });
});
