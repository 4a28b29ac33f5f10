/**
 * Three real workers over one Temporal server, one database and one bucket: each duty is one worker's at a time, and of a
 * worker that is killed, or stands still for longer than its lease, another's within twenty seconds.
 */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import type { RunningProgram } from './running-program.ts';
import { openTwoHosts, type TwoHosts } from './two-hosts.ts';
import { recordsIn } from './upgrade-batch.ts';

const ALL_MS_MAX = 600_000;
/** Lease and beat of a process, as docs/hosts.md states them, and what `parley` itself takes here. */
const POLL = { timeout: 120_000, interval: 200 };
const DUTIES = ['lost_hosts', 'lost_workflows', 'spend_totals'];
const NAMES = ['alpha', 'beta', 'gamma'] as const;

interface Process {
  readonly name: string;
  readonly leads: readonly string[];
}

describeWith('temporal', 'duties of three workers', () => {
  describeWith('postgres', 'with one database', () => {
    describeWith('s3-server', 'and one bucket', () => {
      let hosts: TwoHosts;
      const workers = new Map<string, RunningProgram>();

      beforeAll(async () => {
        hosts = await openTwoHosts();
        for (const name of NAMES) {
          const worker = hosts.start('alpha', ['worker'], {
            PARLEY_HOST_NAME: name,
            PARLEY_DATA_DIR: `${hosts.copy.root}/${name}/data`,
          });
          if (!(await worker.says(/Ctrl-C ends it/))) throw new Error((await worker.ended).stderr);
          workers.set(name, worker);
        }
      }, ALL_MS_MAX);
      afterAll(async () => {
        for (const { pid } of workers.values()) process.kill(pid, 'SIGTERM');
        await Promise.all([...workers.values()].map(({ ended }) => ended));
        await hosts?.close();
      }, ALL_MS_MAX);

      const processes = async (): Promise<readonly Process[]> => {
        const { stdout } = await hosts.start('alpha', ['hosts', 'list', '--json']).ended;
        const listed = recordsIn(`{}\n${stdout}`).filter(({ type }) => type === 'process');
        return listed as unknown as readonly Process[];
      };
      const hostOf = ({ name }: Process): string => name.split(' ')[0] ?? '';
      /** The one worker that has all of them. */
      const leader = async (): Promise<string> => {
        const all = await processes();
        expect(all.flatMap(({ leads }) => leads).sort()).toEqual(DUTIES);
        return hostOf(all.find(({ leads }) => leads.length > 0) as Process);
      };

      it(
        'are those of one, of which a listing says so',
        async () => {
          const all = await processes();
          expect(all.map(hostOf).sort()).toEqual([...NAMES]);
          expect(await leader()).toBe('alpha');
        },
        ALL_MS_MAX,
      );

      it(
        'go to another when it is killed',
        async () => {
          const first = workers.get('alpha') as RunningProgram;
          workers.delete('alpha');
          first.kill();
          await first.ended;
          await vi.waitFor(async () => expect(['beta', 'gamma']).toContain(await leader()), POLL);
          expect((await processes()).map(hostOf).sort()).toEqual(['beta', 'gamma']);
        },
        ALL_MS_MAX,
      );

      it(
        'go to another when it stands still, and do not come back with it',
        async () => {
          const name = await leader();
          const [other] = ['beta', 'gamma'].filter((one) => one !== name);
          const { pid } = workers.get(name) as RunningProgram;
          process.kill(pid, 'SIGSTOP');
          await vi.waitFor(async () => expect(await leader()).toBe(other), POLL);
          process.kill(pid, 'SIGCONT');
          await vi.waitFor(async () => expect((await processes()).map(hostOf)).toContain(name), POLL);
          expect(await leader()).toBe(other);
        },
        ALL_MS_MAX,
      );
    });
  });
});
