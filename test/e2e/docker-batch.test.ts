/**
 * The first batch in containers of a real daemon, embedded and on Temporal: the same report as in processes, and nothing
 * left behind, also from a pool of warm containers. Namespaces on Temporal are beside it; plain processes there are in
 * temporal-run.test.ts.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { SandboxId } from '../../core/ids.ts';
import { closeDaemon, containersOf, dockerSocket } from '../../scripts/docker-daemon.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import type { BatchCopy } from './batch-copy.ts';
import { startProgram } from './running-program.ts';
import { openWarmBeside } from './warm-beside.ts';
import { runWholeBatch, type WholeBatch } from './whole-batch.ts';

/** Both runs, and the image the first time. */
const START_MS_MAX = 600_000;
const SUCCESS = 'done 3/3, running 0, waiting 0, failed 0';

/** What no sandbox may leave in the copy of a batch. */
function leftOf({ copy }: WholeBatch): readonly string[] {
  const dirs = path.join(copy.dataDir, 'sandboxes');
  const sockets = readdirSync(copy.env['TMPDIR'] ?? '', { recursive: true, encoding: 'utf8' });
  return [
    ...(existsSync(dirs) ? readdirSync(dirs) : []),
    ...sockets.filter((name) => name.endsWith('.sock')),
  ];
}

describeWith('dockerd', 'the first batch in containers', () => {
  const batches: WholeBatch[] = [];
  const run = async (env: Readonly<Record<string, string>>): Promise<WholeBatch> => {
    const batch = await runWholeBatch(env);
    batches.push(batch);
    return batch;
  };
  const onDocker = (): Readonly<Record<string, string>> => ({
    PARLEY_RUNTIME: 'docker',
    PARLEY_DOCKER_SOCKET: dockerSocket(),
  });
  let inContainers: WholeBatch;
  let inProcesses: WholeBatch;
  beforeAll(async () => {
    inContainers = await run(onDocker());
    inProcesses = await run({});
  }, START_MS_MAX);
  afterAll(async () => {
    for (const { copy } of batches) copy.close();
    await closeDaemon();
  });

  describe('on the embedded engine', () => {
    it('succeeds with every conversation, and warns of nothing', () => {
      expect(inContainers.end.stdout).toContain(SUCCESS);
      expect(inContainers.end.stderr).not.toMatch(/warning/i);
    });

    it('tells the same as in processes, record for record', () => {
      expect(inContainers.report).toEqual(inProcesses.report);
    });

    it('leaves no sandbox: no container, no directory, no socket', () => {
      expect(containersOf(dockerSocket())).toEqual([]);
      expect(leftOf(inContainers)).toEqual([]);
    });
  });

  describe('from the warm pool', () => {
    const POOL = 3;
    /** The deployment of the example wants to know its gateway; a service that only boots asks none. */
    const gateway = { PARLEY_GATEWAY_URL: 'http://127.0.0.1:9/v1', PARLEY_GATEWAY_KEY: 'unused' };
    const envOf = (size: number) => ({ ...onDocker(), PARLEY_WARM_POOL: String(size) });

    /** `parley serve` over the data of the copy, for as long as `work` takes. */
    async function whileServed(copy: BatchCopy, size: number, work: () => Promise<unknown>): Promise<void> {
      const env = { ...envOf(size), ...gateway, PARLEY_GATEWAY_EXPORT: '', PARLEY_MODEL: 'openai/unused' };
      const served = startProgram(copy, 'bin/parley.js', ['serve', '--port', '0'], env);
      onTestFinished(() => served.kill());
      await Promise.race([
        work(),
        served.ended.then(({ stderr }) => Promise.reject(new Error(`it ended too early: ${stderr}`))),
      ]);
      process.kill(served.pid, 'SIGTERM');
      expect((await served.ended).code).toBe(0);
    }

    it(
      'claims the oldest containers, leaves the others, and the pool gives these back',
      async () => {
        const filled: SandboxId[] = [];
        const fill = (copy: BatchCopy): Promise<void> =>
          whileServed(copy, POOL, async () => {
            await expect.poll(() => containersOf(dockerSocket())).toHaveLength(POOL);
            filled.push(...(await (await openWarmBeside(copy.dataDir)).filled(POOL)));
          });
        const batch = await runWholeBatch(envOf(POOL), fill);
        batches.push(batch);
        expect(batch.end.stdout).toContain(SUCCESS);
        expect(batch.report).toEqual(inProcesses.report);
        expect([...batch.sandboxIds].sort()).toEqual(filled.slice(0, 2).sort());
        const pool = await openWarmBeside(batch.copy.dataDir);
        expect(await pool.ready()).toEqual(filled.slice(2));
        expect(containersOf(dockerSocket())).toHaveLength(1);

        await whileServed(batch.copy, 0, () => pool.filled(0));
        await expect.poll(() => containersOf(dockerSocket())).toEqual([]);
        expect(leftOf(batch)).toEqual([]);
      },
      START_MS_MAX,
    );
  });

  describeWith('temporal', 'on Temporal', () => {
    /** A server for each: two installations with one run id are one run to it. */
    const onTemporal = async (): Promise<Readonly<Record<string, string>>> => {
      const server = await startServerForTests();
      onTestFinished(() => server.stop());
      return { PARLEY_ENGINE: 'temporal', TEMPORAL_ADDRESS: server.address };
    };

    it(
      'tells the same from containers, and leaves none',
      async () => {
        const batch = await run({ ...onDocker(), ...(await onTemporal()) });
        expect(batch.end.stdout).toContain(SUCCESS);
        expect(batch.report).toEqual(inProcesses.report);
        expect(containersOf(dockerSocket())).toEqual([]);
        expect(leftOf(batch)).toEqual([]);
      },
      START_MS_MAX,
    );

    describeWith('bwrap', 'in namespaces', () => {
      it(
        'tells the same from namespaces, and leaves none',
        async () => {
          const batch = await run({ PARLEY_ISOLATION: 'namespaces', ...(await onTemporal()) });
          expect(batch.end.stdout).toContain(SUCCESS);
          expect(batch.report).toEqual(inProcesses.report);
          expect(leftOf(batch)).toEqual([]);
        },
        START_MS_MAX,
      );
    });
  });
});
