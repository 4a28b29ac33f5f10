/**
 * Two real workers and an API without one over one database: a version of the configuration that is deployed through the API
 * holds in all of them within a beat or two; a process that cannot apply one says so and keeps the last that it could.
 */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import type { RunningProgram } from './running-program.ts';
import { openTwoHosts, type HostName, type TwoHosts } from './two-hosts.ts';
import { recordsIn } from './upgrade-batch.ts';

const ALL_MS_MAX = 600_000;
const POLL = { timeout: 120_000, interval: 500 };
const SECRET = `sk-${'live'.repeat(8)}`;

interface Process {
  readonly kind: string;
  readonly name: string;
  readonly configuration: { readonly version: number | null; readonly refused: string | null };
}

describeWith('temporal', 'a configuration in the database', () => {
  describeWith('postgres', 'of two workers and an API', () => {
    describeWith('s3-server', 'with one bucket', () => {
      let hosts: TwoHosts;
      let url: string;
      const programs = new Map<string, RunningProgram>();

      const startWorker = async (as: HostName): Promise<void> => {
        const worker = hosts.start(as, ['worker'], as === 'beta' ? { TEAM_TOKEN: '' } : {});
        if (!(await worker.says(/Ctrl-C ends it/))) throw new Error((await worker.ended).stderr);
        programs.set(as, worker);
      };
      const kill = async (as: HostName): Promise<void> => {
        const worker = programs.get(as) as RunningProgram;
        programs.delete(as);
        worker.kill();
        await worker.ended;
      };
      beforeAll(async () => {
        hosts = await openTwoHosts({ TEAM_TOKEN: 'known here' });
        await startWorker('alpha');
        await startWorker('beta');
        const served = await hosts.serve();
        url = `${served.url}/api/v1/configuration`;
        programs.set('gamma', served.program);
      }, ALL_MS_MAX);
      afterAll(async () => {
        for (const { pid } of programs.values()) process.kill(pid, 'SIGTERM');
        await Promise.all([...programs.values()].map(({ ended }) => ended));
        await hosts?.close();
      }, ALL_MS_MAX);

      const call = async (method: string, body?: object) => {
        const headers = { authorization: `Bearer ${hosts.apiKey}`, 'content-type': 'application/json' };
        const answer = await fetch(url, { method, headers, body: body ? JSON.stringify(body) : null });
        const json = (await answer.json()) as Record<string, unknown>;
        return { status: answer.status, body: json, text: JSON.stringify(json) };
      };
      const revision = async (): Promise<unknown> => (await call('GET')).body['revision'];
      const patch = async (fields: object) => call('PATCH', { revision: await revision(), fields });
      /** What each says of itself, by the first word of its name. */
      const standings = async () => {
        const { stdout } = await hosts.start('alpha', ['hosts', 'list', '--json']).ended;
        const listed = recordsIn(`{}\n${stdout}`).filter(({ type }) => type === 'process');
        return Object.fromEntries(
          (listed as unknown as readonly Process[]).map((one) => [one.name.split(' ')[0], one]),
        );
      };
      const has = (version: number, refused: unknown = null) => ({ configuration: { version, refused } });

      it(
        'is taken by all processes, and of two who change it at once one is told to read it again',
        async () => {
          const first = await patch({ idle_time: 777 });
          expect([first.status, first.body]).toMatchObject([
            200,
            { path: 'version 1 in the database', applied: ['limits.idle_time'], warnings: [] },
          ]);
          expect(await standings()).toMatchObject({
            alpha: { kind: 'worker', ...has(1) },
            beta: { kind: 'worker', ...has(1) },
            gamma: { kind: 'api', ...has(1) },
          });
          const read = await revision();
          const both = await Promise.all(
            [801, 802].map((idle_time) => call('PATCH', { revision: read, fields: { idle_time } })),
          );
          expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
          expect(both.find(({ status }) => status === 409)?.text).toContain('read it again');
        },
        ALL_MS_MAX,
      );

      it(
        'is kept as it was by whoever cannot take it, which says why; a killed worker begins with what it last had',
        async () => {
          const headers = { 'x-team': 'os.environ/TEAM_TOKEN' };
          const third = await patch({ custom_llm_extra_headers: headers });
          const why = expect.stringMatching(/^version 3 cannot be taken: .*TEAM_TOKEN/) as string;
          expect([third.status, third.body]).toMatchObject([200, { path: 'version 3 in the database' }]);
          expect(third.body['warnings']).toEqual([expect.stringMatching(/"beta .* version 2: .*TEAM_TOKEN/)]);
          expect(await standings()).toMatchObject({ alpha: has(3), beta: has(2, why), gamma: has(3) });
          await kill('alpha');
          await kill('beta');
          await patch({ idle_time: 888 });
          await Promise.all([startWorker('alpha'), startWorker('beta')]);
          const last = expect.stringContaining('version 4 cannot be taken') as string;
          await vi.waitFor(
            async () => expect(await standings()).toMatchObject({ alpha: has(4), beta: has(2, last) }),
            POLL,
          );
          await patch({ custom_llm_extra_headers: {} });
          await vi.waitFor(
            async () => expect(await standings()).toMatchObject({ alpha: has(5), beta: has(5) }),
            POLL,
          );
        },
        ALL_MS_MAX,
      );

      it(
        'never holds a secret, and is what "parley config explain" names as an origin',
        async () => {
          const inHeader = await patch({ custom_llm_extra_headers: { 'x-team': SECRET } });
          const { text } = (await call('GET')).body;
          const inComment = await call('PUT', {
            revision: await revision(),
            text: `# the key is ${SECRET}\n${String(text)}`,
          });
          for (const { status, text: said } of [inHeader, inComment]) {
            expect([status, said]).toEqual([422, expect.stringContaining('os.environ/NAME')]);
            expect(said).not.toContain(SECRET);
          }
          expect((await call('GET')).body).toMatchObject({ path: 'version 5 in the database', text });
          const { stdout } = await hosts.start('beta', ['config', 'explain']).ended;
          expect(stdout).toMatch(/limits\.idle_time +888 +version 5 of the configuration:\d+/);
        },
        ALL_MS_MAX,
      );
    });
  });
});
