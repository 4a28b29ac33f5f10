/** Jobs over the API: what a text compiles to and would cost, the history of a job, and two runs compared. */
import { expect, it } from 'vitest';
import { runId } from '../../core/ids.ts';
import { runItemRow, runRow } from '../contract/store-rows.ts';
import { eventually, openService } from './service.ts';

const JOB = `kind: job
version: 1
name: nightly
defaults: { model: coder, limits: { usd: 0.50 } }
admission: { concurrency: 2 }
conversations:
  - { id: one, prompt: Write a note. }
  - { id: two, prompt: Write another. }
`;

it('says what is wrong and where, and what a run would cost, and the plan begins a run', async () => {
  const service = await openService();
  const compile = async (text: string, inputs: object = {}) =>
    (
      await service.call({
        ...{ method: 'POST', path: '/api/v1/jobs/compile', key: service.ben },
        body: { text, inputs },
      })
    ).body;
  const wrong = await compile(JOB.replace('model: coder', 'modle: coder'));
  expect([wrong.plan, wrong.outlook]).toEqual([null, null]);
  expect(wrong.findings[0]).toMatchObject({ severity: 'error', line: 4 });
  const right = await compile(JOB);
  expect(right.findings.filter(({ severity }: { severity: string }) => severity === 'error')).toEqual([]);
  expect(right.outlook).toMatchObject({
    ...{ cost_max_nano_usd: 1_000_000_000, cost_p50_nano_usd: null, peak: 2, models: { coder: 2 } },
  });
  const { plan } = right;
  const started = await service.call({
    method: 'POST',
    path: '/api/v1/runs',
    key: service.ben,
    body: { plan },
  });
  expect([started.status, started.body.name], started.text).toEqual([201, 'nightly']);
  const run = async () =>
    (await service.call({ path: `/api/v1/runs/${started.body.id}`, key: service.ben })).body;
  const ended = await eventually(run, ({ phase }) => phase === 'finished');
  expect(ended.ended).toEqual({ succeeded: 2 });
  // The next one is reckoned from what this one took.
  expect((await compile(JOB)).outlook.time_p50_ms).toBeGreaterThan(0);
});

it('asks for inputs, and reads no file of the machine that it runs on', async () => {
  const service = await openService();
  const compile = async (text: string, inputs: object = {}) =>
    (await service.call({ method: 'POST', path: '/api/v1/jobs/compile', body: { text, inputs } })).body;
  const asking = JOB.replace('defaults:', 'inputs: { what: { type: string } }\ndefaults:').replace(
    'Write a note.',
    '"Write ${{ inputs.what }}."',
  );
  const open = await compile(asking);
  expect([open.plan, open.open_inputs]).toEqual([null, ['what']]);
  expect((await compile(asking, { what: 'a poem' })).plan.items[0].prompt).toBe('Write a poem.');
  const reading = await compile(JOB.replace('prompt: Write a note.', 'prompt: { file: /etc/hostname }'));
  expect(reading.plan).toBeNull();
  expect(JSON.stringify(reading.findings)).toContain('/etc/hostname');
  const issues = await compile(JOB.replace('id: one,', 'id: one, items: { github: { repository: a/b } },'));
  expect(issues.plan).toBeNull();
  expect(JSON.stringify(issues.findings)).toContain('issues of a code host are not read');
  const tooLong = await service.call({
    ...{ method: 'POST', path: '/api/v1/jobs/compile' },
    body: { text: ' '.repeat(300_000) },
  });
  expect(tooLong.status).toBe(422);
});

it('has the history of a job, and compares two of its runs', async () => {
  const service = await openService();
  const project = service.store.records;
  const ids = ['nightly-1', 'nightly-2'].map((id) => runId(id));
  for (const [at, id] of ids.entries())
    await project.project([
      runRow({
        runId: id,
        name: 'nightly',
        planHash: 'p',
        createdAt: 1_000 + at,
        endedAt: 5_000,
        phase: 'finished',
      }),
      runItemRow('same', {
        runId: id,
        outcome: 'succeeded',
        phase: 'ended',
        costNanoUsd: 10,
        admittedAt: 0,
        endedAt: 500,
      }),
      runItemRow('moody', { runId: id, outcome: at === 0 ? 'succeeded' : 'failed', phase: 'ended' }),
    ]);
  const key = await service.issue('local');
  const history = (await service.call({ path: '/api/v1/jobs/nightly/history', key })).body;
  expect(history.runs.map(({ run }: { run: { id: string } }) => run.id)).toEqual(['nightly-2', 'nightly-1']);
  expect([history.keys_total, history.keys_flaky]).toEqual([2, 1]);
  expect(history.keys[0]).toMatchObject({ key: 'moody', is_flaky: true, succeeded: 1, ended: 2 });
  const compared = (await service.call({ path: '/api/v1/runs/nightly-2/comparison?before=nightly-1', key }))
    .body;
  expect(compared.counts).toEqual({ worse: 1, better: 0, other: 0, added: 0, removed: 0, same: 1 });
  expect(compared.items[0]).toMatchObject({
    key: 'moody',
    verdict: 'worse',
    before: { outcome: 'succeeded' },
  });
  const foreign = { path: '/api/v1/runs/nightly-2/comparison?before=nightly-1', key: service.ben };
  expect((await service.call(foreign)).status).toBe(404);
  expect((await service.call({ path: '/api/v1/jobs/nightly/history', key: service.ben })).body.runs).toEqual(
    [],
  );
});
