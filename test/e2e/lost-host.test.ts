/**
 * One of two workers is killed in the middle of a batch and does not come back in time: the other gives its host up, and
 * the batch ends as if nothing had been (D33). Afterwards the host comes back, and cleans up what it had left.
 */
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { ledgerRows, sumOf } from './ledger.ts';
import type { ProgramEnd, RunningProgram } from './running-program.ts';
import { openTwoHosts, type TwoHosts } from './two-hosts.ts';
import { recordsIn } from './upgrade-batch.ts';

const ALL_MS_MAX = 600_000;
const POLL = { timeout: 300_000, interval: 50 };
const ITEMS = 20;
const RUN = ['run', 'job.yaml', '--json', '--run-id', 'one-is-lost', '--limit', String(ITEMS)];

type Row = Readonly<Record<string, unknown>>;

describeWith('temporal', 'a worker that is killed and does not come back in time', () => {
  describeWith('postgres', 'of two with one database', () => {
    describeWith('s3-server', 'and one bucket', () => {
      let hosts: TwoHosts;
      let alpha: RunningProgram;
      let beta: RunningProgram;
      let end: ProgramEnd;
      let billed: bigint;
      const up = new Set<RunningProgram>();

      const startWorker = async (name: 'alpha' | 'beta'): Promise<RunningProgram> => {
        const worker = await hosts.startWorker(name);
        up.add(worker);
        return worker;
      };
      const stopWorker = async (worker: RunningProgram): Promise<ProgramEnd> => {
        up.delete(worker);
        process.kill(worker.pid, 'SIGTERM');
        return await worker.ended;
      };
      const listed = async (): Promise<readonly Row[]> => {
        const { stdout } = await hosts.start('alpha', ['hosts', 'list', '--json']).ended;
        return recordsIn(`{}\n${stdout}`).filter(({ type }) => type === 'host');
      };

      beforeAll(async () => {
        hosts = await openTwoHosts({ PARLEY_HOST_LEASE: '5', PARLEY_HOST_LOST_AFTER: '5' });
        // A lost conversation has no other attempt.
        appendFileSync(
          path.join(hosts.copy.example, 'job.yaml'),
          '\nretry: []\nreconcile: { rows: gateway, settle: 1s }\n',
        );
        alpha = await startWorker('alpha');
        beta = await startWorker('beta');
        const run = hosts.start('alpha', RUN);
        await vi.waitFor(() => expect(hosts.sandboxesOn('beta').length).toBeGreaterThan(1), POLL);
        up.delete(beta);
        beta.kill();
        await beta.ended;
        end = await run.ended;
        billed = sumOf(ledgerRows(hosts.copy));
      }, ALL_MS_MAX);
      afterAll(async () => {
        await Promise.all([...up].map(stopWorker));
        await hosts?.close();
      }, ALL_MS_MAX);

      it('is given up by the other, and every item succeeds', async () => {
        expect(end.code, end.stderr).toBe(0);
        const ended = recordsIn(end.stdout).filter(({ type, phase }) => type === 'item' && phase === 'ended');
        const items = [...new Map(ended.map((item) => [item['key'], item])).values()];
        expect(items).toHaveLength(ITEMS);
        for (const item of items) expect(item).toMatchObject({ outcome: 'succeeded' });
        const again = items.filter(({ attempt }) => attempt !== 1);
        expect(again.length).toBeGreaterThan(0);
        for (const item of again) expect(item).toMatchObject({ attempt: 2 });
        expect(
          await alpha.says(/host beta was given up: its worker is gone, and with it \d+ sandboxes/),
        ).toBe(true);
        expect(await listed()).toMatchObject([
          { name: 'alpha', state: 'live', sandboxes: 0 },
          { name: 'beta', state: 'lost', sandboxes: 0, lost: 0 },
        ]);
      });

      it('has on its account what the gateway billed', () => {
        const run = recordsIn(end.stdout).findLast(({ type }) => type === 'run');
        const sums = run?.['reconciliation'] as Readonly<Record<string, number>> | undefined;
        const amounts = ['total_nano_usd', 'assigned_nano_usd'].map((name) => BigInt(sums?.[name] ?? -1));
        expect(amounts).toEqual([billed, billed]);
      });

      it(
        'cleans up when it comes back, with a fence of its own, and is given work again',
        async () => {
          expect(hosts.sandboxesOn('beta').length).toBeGreaterThan(0);
          beta = await startWorker('beta');
          expect(await beta.says(/host beta had been given up: what is left/)).toBe(true);
          expect(await listed()).toMatchObject([{}, { name: 'beta', state: 'live', fence: 3 }]);
          await vi.waitFor(() => expect(hosts.sandboxesOn('beta')).toEqual([]), POLL);
          // The run has ended: started again, it begins nothing.
          const before = sumOf(ledgerRows(hosts.copy));
          const again = await hosts.start('alpha', RUN).ended;
          expect(again.code, again.stderr).toBe(0);
          expect(sumOf(ledgerRows(hosts.copy))).toBe(before);
          expect(hosts.sandboxesOn('alpha')).toEqual([]);
          const more = await hosts.start('alpha', [...RUN.slice(0, 4), 'both-again', '--limit', '6']).ended;
          expect(more.code, more.stderr).toBe(0);
        },
        ALL_MS_MAX,
      );

      it(
        'says so when it stops in order',
        async () => {
          expect((await stopWorker(beta)).code).toBe(0);
          expect(await listed()).toMatchObject([{}, { name: 'beta', state: 'stopped' }]);
        },
        ALL_MS_MAX,
      );
    });
  });
});
