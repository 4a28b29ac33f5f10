/**
 * Conversations on two hosts: two real workers with data directories of their own, over one Temporal server, one
 * PostgreSQL and one bucket. Whatever reaches into a sandbox happens where it lives (D33).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import type { ProgramEnd, RunningProgram } from './running-program.ts';
import { HOSTS, openTwoHosts, type HostName, type TwoHosts } from './two-hosts.ts';
import { recordsIn } from './upgrade-batch.ts';

const ALL_MS_MAX = 600_000;
const ITEMS = 20;

type Row = Readonly<Record<string, unknown>>;

describeWith('temporal', 'two workers', () => {
  describeWith('postgres', 'with one database', () => {
    describeWith('s3-server', 'and one bucket', () => {
      let hosts: TwoHosts;
      const workers = new Map<HostName, RunningProgram>();

      beforeAll(async () => {
        hosts = await openTwoHosts();
        for (const name of HOSTS) workers.set(name, await hosts.startWorker(name));
      }, ALL_MS_MAX);
      afterAll(async () => {
        const ends = [...workers.values()].map(({ pid, ended }) => {
          process.kill(pid, 'SIGTERM');
          return ended;
        });
        await Promise.all(ends);
        await hosts?.close();
      }, ALL_MS_MAX);

      const run = async (id: string, flags: readonly string[], job = 'job.yaml'): Promise<readonly Row[]> => {
        const end = await hosts.start('alpha', ['run', job, '--json', '--run-id', id, ...flags]).ended;
        expect(end.code, end.stderr).toBe(0);
        const ended = recordsIn(end.stdout).filter(({ type, phase }) => type === 'item' && phase === 'ended');
        return [...new Map(ended.map((item) => [item['key'], item])).values()];
      };
      const list = async (...args: readonly string[]): Promise<readonly Row[]> => {
        const end: ProgramEnd = await hosts.start('beta', ['hosts', ...args, '--json']).ended;
        expect(end.code, end.stderr).toBe(0);
        return recordsIn(`${'{}\n'}${end.stdout}`).filter(({ type }) => type === 'host');
      };

      it('are listed as two hosts, each with a queue of its own', async () => {
        expect(await list('list')).toMatchObject([
          { name: 'alpha', state: 'live', runtime: 'process', up: 0, sandboxes: 0, fence: 1 },
          { name: 'beta', state: 'live', runtime: 'process', up: 0, sandboxes: 0, fence: 1 },
        ]);
      });

      it(
        'work on twenty conversations, each with its first attempt, and each sandbox on one of them',
        async () => {
          const seen = { alpha: new Set<string>(), beta: new Set<string>() };
          const looking = setInterval(() => {
            for (const name of HOSTS) for (const id of hosts.sandboxesOn(name)) seen[name].add(id);
          }, 50);
          const items = await run('on-both', ['--limit', String(ITEMS)]).finally(() =>
            clearInterval(looking),
          );
          expect(items).toHaveLength(ITEMS);
          for (const item of items) expect(item).toMatchObject({ outcome: 'succeeded', attempt: 1 });
          expect(seen.alpha.size).toBeGreaterThan(2);
          expect(seen.beta.size).toBeGreaterThan(2);
          expect([...seen.alpha].filter((id) => seen.beta.has(id))).toEqual([]);
        },
        ALL_MS_MAX,
      );

      it(
        'leave a job that names one of them to that one, and one that names none there waits and says for what',
        async () => {
          const pinned = (name: string, host: string): string => {
            const text = readFileSync(path.join(hosts.copy.example, 'job.yaml'), 'utf8');
            writeFileSync(path.join(hosts.copy.example, name), `${text}\nplacement: { host: ${host} }\n`);
            return name;
          };
          const seen = new Set<string>();
          const timer = setInterval(() => hosts.sandboxesOn('alpha').forEach((id) => seen.add(id)), 50);
          const items = await run('pinned', ['--limit', '4'], pinned('beta.yaml', 'beta')).finally(() =>
            clearInterval(timer),
          );
          expect(items).toHaveLength(4);
          for (const item of items) expect(item).toMatchObject({ outcome: 'succeeded', attempt: 1 });
          expect([...seen]).toEqual([]);

          const flags = ['--run-id', 'nowhere', '--limit', '1'];
          const waiting = hosts.start('alpha', ['run', pinned('gamma.yaml', 'gamma'), ...flags]);
          expect(await waiting.says(/gamma/)).toBe(true);
          const cancelled = await hosts.start('beta', ['cancel', 'nowhere']).ended;
          expect(cancelled.code, cancelled.stderr).toBe(0);
          expect((await waiting.ended).code).not.toBe(0);
        },
        ALL_MS_MAX,
      );

      it(
        'leave one that drains alone, and it is given work again',
        async () => {
          expect(await list('drain', 'alpha')).toMatchObject([{ name: 'alpha', draining: true }]);
          const before = hosts.sandboxesOn('alpha').length;
          const looking: number[] = [];
          const timer = setInterval(() => looking.push(hosts.sandboxesOn('alpha').length), 50);
          const items = await run('on-beta', ['--limit', '4']).finally(() => clearInterval(timer));
          for (const item of items) expect(item).toMatchObject({ outcome: 'succeeded', attempt: 1 });
          expect(Math.max(...looking)).toBeLessThanOrEqual(before);
          expect(await list('undrain', 'alpha')).toMatchObject([{ name: 'alpha', draining: false }]);
        },
        ALL_MS_MAX,
      );

      it(
        'refuse a third that takes the name of one',
        async () => {
          const end = await hosts.start('beta', ['worker'], {
            PARLEY_DATA_DIR: `${hosts.copy.root}/third`,
            PARLEY_HOST_NAME: 'alpha',
          }).ended;
          expect(end.code, end.stderr).toBe(2);
          expect(end.stderr).toContain('Cannot use the name "alpha" for this host');
          expect(end.stderr).toContain('PARLEY_HOST_NAME');
        },
        ALL_MS_MAX,
      );
    });
  });
});
