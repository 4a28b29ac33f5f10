/** A job played over the API: the figures of `parley simulate`, bounded, and nothing else waits for it. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { playJob, simulationOf } from '../../cli/simulate/job-play.ts';
import { createJobSimulator, PLAY_MS_MAX } from '../../cli/simulate/threaded-simulator.ts';
import type { SimulatedJob } from '../../api/jobs/job-simulator.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { builtProgram } from '../../host/sandboxes/places.ts';
import { parley, ROOT } from '../cli/parley-program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { callServed, PLAIN, serve } from './served.ts';
import { openService } from './service.ts';

const ROUTE = '/api/v1/jobs/simulate';
const ALL_MS_MAX = 180_000;

const JOB = `kind: job
version: 1
name: nightly
defaults: { model: coder, limits: { usd: 0.50 } }
conversations:
  - { id: one, prompt: Write a note. }
  - { id: two, prompt: Write another. }
`;

/** Ten thousand conversations. */
const MANY = `kind: job
version: 1
name: many
defaults: { model: coder }
conversations:
  - id: text
    matrix:
      ${['a', 'b', 'c', 'd'].map((name) => `${name}: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]`).join('\n      ')}
    prompt: 'Write \${{ matrix.a }}\${{ matrix.b }}\${{ matrix.c }}\${{ matrix.d }}.'
`;

const DEPLOYMENT: SimulatedJob['deployment'] = {
  limits: { idleTimeMs: 1_200_000, deletionTimeMs: 864_000_000 },
  capacity: { installationMax: 100, userMax: 10, conversationsPerSandboxMax: 20 },
  ...{ onFull: 'refuse', grouping: 'NO_GROUPING', pollMs: 5_000 },
};

function job(text: string): SimulatedJob {
  return { text, inputs: {}, models: ['coder'], deployment: DEPLOYMENT, seed: 1 };
}

const stays = (): AbortSignal => new AbortController().signal;

describe('POST /api/v1/jobs/simulate', () => {
  it(
    'says of the example of three hundred what the command line says',
    async () => {
      const folder = tempDir();
      const example = path.join(ROOT, 'examples/three-hundred/job.yaml');
      const text = readFileSync(example, 'utf8');
      copyFileSync(example, path.join(folder, 'job.yaml'));
      const served = await serve(folder, { config: PLAIN });
      const key = served.key ?? '';
      const ask = (body: object) => callServed(served, key, { method: 'POST', path: ROUTE, body });
      const told = await parley(['simulate', 'job.yaml', '--config', 'parley.yaml', '--json'], {
        cwd: folder,
      });
      const records = told.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      const { type: _type, ...figures } = records.find(({ type }) => type === 'simulation') ?? {};
      expect(figures).toMatchObject({ seed: 1, phase: 'finished', sandboxes_peak: 10, sandboxes_max: 10 });

      const { status, body, text: said } = await ask({ text });
      expect(status, said).toBe(200);
      expect(body).toMatchObject({ ...figures, conversations: 300, cut_at_ms: null, left_out: [] });
      const ends = records.flatMap(({ type, outcome }) => (type === 'simulated' ? [String(outcome)] : []));
      const succeeded = ends.filter((outcome) => outcome === 'succeeded').length;
      expect(body.ended.succeeded).toBe(succeeded);
      expect(Object.values<number>(body.ended).reduce((sum, one) => sum + one, 0)).toBe(300);
      expect(body.activities).toEqual(records.find(({ name }) => name === 'activities')?.['points']);
      expect(body.slots).toEqual(records.find(({ name }) => name === 'slots')?.['points']);
      expect(body.activities.at(-1)).toMatchObject({ queued: 0, working: 0, ended: 300 });

      const again = (await ask({ text, seed: 7 })).body;
      expect([again.seed, again.hash === body.hash]).toEqual([7, false]);

      const drawn = await callServed(served, key, { method: 'POST', path: `${ROUTE}/page`, body: { text } });
      expect(drawn.headers.get('content-disposition')).toBe('attachment; filename="simulation.html"');
      await parley(['simulate', 'job.yaml', '--config', 'parley.yaml', '--html', 'page.html'], {
        cwd: folder,
      });
      expect(drawn.text).toBe(readFileSync(path.join(folder, 'page.html'), 'utf8'));
    },
    ALL_MS_MAX,
  );

  it('refuses what compiles to no plan, and a body that does not fit', async () => {
    const service = await openService();
    const ask = (body: object) => service.call({ method: 'POST', path: ROUTE, key: service.ben, body });
    const wrong = await ask({ text: JOB.replace('model: coder', 'modle: coder') });
    expect([wrong.status, wrong.body.code]).toEqual([422, 'plan_invalid']);
    for (const body of [
      {},
      { text: 1 },
      { text: JOB, seed: -1 },
      { text: JOB, seed: 1.5 },
      { text: JOB, more: 1 },
    ])
      expect((await ask(body)).status, JSON.stringify(body)).toBe(422);
    expect((await ask({ text: ' '.repeat(300_000) })).status).toBe(422);
    expect((await service.call({ method: 'POST', path: ROUTE, key: null, body: { text: JOB } })).status).toBe(
      401,
    );
    const none = await openService({ simulator: null });
    const nobody = await none.call({ method: 'POST', path: ROUTE, body: { text: JOB } });
    expect([nobody.status, nobody.body.code]).toEqual([404, 'not_found']);
  });

  it('knows the inputs, and shows a hostile name as a name', async () => {
    const service = await openService();
    const hostile = '"><img src=x onerror=attacked(1)>';
    const text = JOB.replace('defaults:', 'inputs: { what: { type: string } }\ndefaults:')
      .replace('Write a note.', '"Write ${{ inputs.what }}."')
      .replace(
        'id: two',
        'id: two, matrix: { subject: [\'<script>attacked(1)</script>\', "\\e[31mred\\a"] }',
      );
    const ask = (more: string, body: object) =>
      service.call({ method: 'POST', path: `${ROUTE}${more}`, body: { text, ...body } });
    expect((await ask('', {})).body.code).toBe('plan_invalid');
    const inputs = { what: hostile };
    const { status, body, text: said } = await ask('', { inputs });
    expect(status, said).toBe(200);
    expect(body.conversations).toBe(3);
    const page = (await ask('/page', { inputs })).text;
    expect(page).not.toMatch(/<script>attacked|<img src=x/);
  });

  it(
    'goes on answering others while ten thousand conversations are played, and ends with who asked',
    async () => {
      const service = await openService({ deployment: DEPLOYMENT });
      const left = new AbortController();
      let ended = '';
      const asked = fetch(`${service.server.url}${ROUTE}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.ada}`, 'content-type': 'application/json' },
        body: JSON.stringify({ text: MANY }),
        signal: left.signal,
      }).then(
        ({ status }) => (ended = String(status)),
        () => (ended = 'left'),
      );
      let worst = 0;
      for (const begun = performance.now(); performance.now() - begun < 3_000;) {
        const at = performance.now();
        expect((await service.call({ path: '/api/v1/sandboxes/count' })).status).toBe(200);
        worst = Math.max(worst, performance.now() - at);
        // A caller has so many requests a second and no more.
        await pause(50);
      }
      console.log(`slowest answer beside a play: ${Math.round(worst)} ms`);
      // Played here it would take all the time that a play has.
      expect([worst < PLAY_MS_MAX / 3, ended]).toEqual([true, '']);
      left.abort();
      await asked;
      // Its thread is gone: the next play does not wait for the rest of it.
      const at = performance.now();
      const { status } = await service.call({ method: 'POST', path: ROUTE, body: { text: JOB } });
      expect([status, performance.now() - at < PLAY_MS_MAX / 2]).toEqual([200, true]);
    },
    ALL_MS_MAX,
  );
});

describe('a play', () => {
  it('that takes too long is cut off, and says so: the command line says the same of that time', async () => {
    const folder = tempDir();
    writeFileSync(path.join(folder, 'job.yaml'), JOB);
    writeFileSync(path.join(folder, 'parley.yaml'), 'runtime: { isolation: none }\n');
    const cut = simulationOf(playJob(job(JOB), () => false));
    expect(cut).toMatchObject({ cut_at_ms: 60_000, makespan_ms: null, phase: 'running' });
    const args = ['simulate', 'job.yaml', '--config', 'parley.yaml', '--json', '--until', '1m'];
    const told = await parley(args, { cwd: folder });
    const last = JSON.parse(told.stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, unknown>;
    expect([last['steps'], last['hash'], last['queued_total_ms']]).toEqual([
      ...[cut.steps, cut.hash, cut.queued_total_ms],
    ]);
  });

  it('of more conversations than a service plays is refused', () => {
    const more = MANY.replace('a: [0,', 'a: [0, 10,');
    expect(() => playJob(job(more), () => false)).toThrow('11000 conversations, 10000 at most');
  });

  it('waits for those before it, and the sixth is refused', async () => {
    const simulator = createJobSimulator(builtProgram('plan-player.js'));
    const left = new AbortController();
    const before = Array.from({ length: 5 }, () => simulator.simulate(job(MANY), left.signal));
    const ends = Promise.allSettled(before);
    await expect(simulator.simulate(job(JOB), stays())).rejects.toMatchObject({ code: 'rate_limited' });
    left.abort();
    const codes = (await ends).map((one) =>
      one.status === 'rejected' && one.reason instanceof ParleyError ? one.reason.code : 'answered',
    );
    expect(codes).toEqual(Array<string>(5).fill('request_timeout'));
    expect((await simulator.simulate(job(JOB), stays())).conversations).toBe(2);
  });

  it('whose thread ends without a word is an error, and not a wait', async () => {
    const folder = tempDir();
    const silent = path.join(folder, 'silent.mjs');
    writeFileSync(silent, '');
    await expect(createJobSimulator(silent).simulate(job(JOB), stays())).rejects.toMatchObject({
      code: 'out_of_resources',
    });
    const hungry = path.join(folder, 'hungry.mjs');
    writeFileSync(hungry, "throw Object.assign(new Error('full'), { code: 'ERR_WORKER_OUT_OF_MEMORY' });");
    await expect(createJobSimulator(hungry).simulate(job(JOB), stays())).rejects.toThrow('more memory');
  });
});
