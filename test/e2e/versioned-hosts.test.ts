/**
 * An upgrade of two hosts with `engine.versioning`, one after the other, while a run goes on: what needs a host's own
 * worker is done by the build that this host has, and everything else by the build that began it (docs/upgrade.md).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import type { ProgramEnd, RunningProgram } from './running-program.ts';
import { openTwoHosts, SLOW_SCRIPT, type HostName, type TwoHosts } from './two-hosts.ts';
import { recordsIn } from './upgrade-batch.ts';

const ALL_MS_MAX = 600_000;
const POLL = { timeout: 300_000, interval: 50 };
const ITEMS = 16;

describeWith('temporal', 'two hosts of a versioned deployment', () => {
  describeWith('postgres', 'with one database', () => {
    describeWith('s3-server', 'and one bucket', () => {
      let hosts: TwoHosts;
      const serving = new Set<RunningProgram>();
      const startWorker = async (as: HostName, build: string): Promise<RunningProgram> => {
        const worker = hosts.start(as, ['worker'], { PARLEY_BUILD_ID: build });
        serving.add(worker);
        expect(await worker.says(/Ctrl-C ends it/)).toBe(true);
        return worker;
      };
      const stop = async (worker: RunningProgram): Promise<ProgramEnd> => {
        serving.delete(worker);
        process.kill(worker.pid, 'SIGTERM');
        return await worker.ended;
      };
      const parley = async (...args: readonly string[]): Promise<string> => {
        const { code, stdout, stderr } = await hosts.start('alpha', args).ended;
        expect(code, stderr).toBe(0);
        return stdout;
      };

      beforeAll(async () => {
        hosts = await openTwoHosts({ PARLEY_DEPLOYMENT: 'parley-hosts' }, { script: SLOW_SCRIPT });
        const job = path.join(hosts.copy.example, 'job.yaml');
        writeFileSync(job, readFileSync(job, 'utf8').replaceAll('text.md', 'slow.md'));
      }, ALL_MS_MAX);
      afterAll(async () => {
        await Promise.all([...serving].map(stop));
        await hosts?.close();
      }, ALL_MS_MAX);

      it(
        'are upgraded one after the other, and each conversation ends at its first attempt',
        async () => {
          const first = await startWorker('alpha', 'one');
          const args = ['run', 'job.yaml', '--json', '--run-id', 'both', '--limit', String(ITEMS)];
          const run = hosts.start('alpha', args);
          await vi.waitFor(() => expect(hosts.sandboxesOn('alpha').length).toBeGreaterThan(1), POLL);
          // It is no build's current one, and has sandboxes at once.
          await startWorker('beta', 'two');
          await vi.waitFor(() => expect(hosts.sandboxesOn('beta').length).toBeGreaterThan(1), POLL);
          await parley('temporal', 'promote', 'two');
          await parley('temporal', 'drain', 'one', '--wait', '240');
          expect((await stop(first)).code).toBe(0);
          await startWorker('alpha', 'two');
          const { code, stdout, stderr } = await run.ended;
          expect(code, stderr).toBe(0);
          const ended = recordsIn(stdout).filter(({ type, phase }) => type === 'item' && phase === 'ended');
          const items = new Map(ended.map((item) => [item['key'], item]));
          expect(items.size).toBe(ITEMS);
          for (const item of items.values()) expect(item).toMatchObject({ outcome: 'succeeded', attempt: 1 });
        },
        ALL_MS_MAX,
      );
    });
  });
});
