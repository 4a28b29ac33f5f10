/** The report of a run as data: what `report.html` says, for users who may see it, with 0 items and with thousands. */
import { expect, it } from 'vitest';
import { SHA256 } from '../../host/job/job-file.ts';
import { runId, userId } from '../../core/ids.ts';
import { hashPlan } from '../../dsl/plan/plan-text.ts';
import { demoPlan } from '../cli/rows.ts';
import { runItemRow, runRow } from '../contract/store-rows.ts';
import { leaveHostileRun, HOSTILE_RUN } from '../web/hostile-run.ts';
import { HOSTILE } from '../web/hostile-texts.ts';
import { leavePastRuns, PAST } from '../web/past-runs.ts';
import { openService, type Service } from './service.ts';

const reportOf = (service: Service, id: string, key?: string) =>
  service.call({ path: `/api/v1/runs/${id}/report`, ...(key === undefined ? {} : { key }) });

it('compares with the last run, has what failed with its last lines, figures as shapes, and a sum that adds up', async () => {
  const service = await openService();
  await leavePastRuns(service);
  const { status, body } = await reportOf(service, PAST.second);
  expect(status).toBe(200);
  expect(body.last_run_id).toBe(PAST.first);
  expect(body.tiles.map(({ name }: { name: string }) => name)).toEqual([
    'Succeeded',
    'Cost',
    'Time',
    'Model calls',
  ]);
  expect(body.tiles[1].has_footnote).toBe(true);
  expect([body.failure_count, body.failures[0]]).toMatchObject([
    3,
    { key: 'moody', part: 'agent', conversation_id: null },
  ]);
  expect(body.figures.map(({ id }: { id: string }) => id)).toContain('outcomes');
  expect(JSON.stringify(body.footnote)).toContain('It adds up');
  expect((await reportOf(service, PAST.first)).body.last_run_id).toBe(null);
});

it('is missing for whoever may not see the run, and where there is none', async () => {
  const service = await openService();
  await leavePastRuns(service);
  expect((await reportOf(service, PAST.second, service.ben)).status).toBe(404);
  expect((await reportOf(service, 'nothing-1')).status).toBe(404);
});

it('has no character that acts on what stands around it', async () => {
  const service = await openService();
  await leaveHostileRun(service);
  const { body, text } = await reportOf(service, HOSTILE_RUN);
  expect(body.failure_count).toBe(HOSTILE.filter((_, index) => index % 3 !== 2).length);
  expect(body.failures.length).toBe(50);
  const { description, ...rest } = body;
  expect(description).toContain('<script>');
  expect(JSON.stringify(rest)).not.toContain('\\u001b');
  expect(JSON.stringify(rest)).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  expect(text.length).toBeLessThan(2_000_000);
});

it('is there for a run without a conversation, and for one of five thousand', async () => {
  const service = await openService();
  for (const count of [0, 5_000]) {
    const [first] = demoPlan().items;
    if (first === undefined) throw new Error('the demo has an item');
    const items = Array.from({ length: count }, (_, index) => ({ ...first, key: `item-${index}`, index }));
    const { hash: _hash, ...planned } = { ...demoPlan(), items };
    const plan = { ...planned, hash: hashPlan(planned, SHA256) };
    const id = runId(`counted-${count}`);
    await service.store.plans.putPlan(id, plan);
    await service.store.records.project([
      runRow({ runId: id, userId: userId('ada'), planHash: plan.hash, total: count, createdAt: 1_000 }),
      ...items.map(({ key }) =>
        runItemRow(key, {
          runId: id,
          phase: 'ended',
          outcome: 'failed',
          detail: 'lost',
          conversationId: null,
        }),
      ),
    ]);
    const { status, body, text } = await reportOf(service, id);
    expect([status, body.failure_count, body.failures.length]).toEqual([200, count, Math.min(count, 50)]);
    expect(text.length).toBeLessThan(200_000);
  }
});
