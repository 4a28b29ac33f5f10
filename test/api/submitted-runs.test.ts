/** Runs that are submitted: what a plan must be, whose a run is, and a repeat under the same key. */
import { expect, it } from 'vitest';
import { SHA256 } from '../../host/job/job-file.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { hashPlan } from '../../dsl/plan/plan-text.ts';
import { demoPlan } from '../cli/rows.ts';
import { openService } from './service.ts';

function planOf(change: Partial<Plan> = {}): Plan {
  const { hash: _hash, ...plan } = { ...demoPlan(), ...change };
  return { ...plan, hash: hashPlan(plan, SHA256) };
}

it('takes a plan once, and shows it to its user and to administrators alone', async () => {
  const service = await openService();
  const submit = (plan: unknown, more: object = {}, key = service.ben) =>
    service.call({
      ...{ method: 'POST', path: '/api/v1/runs', key, body: { plan, ...more } },
      headers: { 'idempotency-key': 'batch-1' },
    });
  const plan = planOf();
  const first = await submit(plan);
  expect([first.status, first.body.id, first.body.user_id], first.text).toEqual([201, 'batch-1', 'ben']);
  expect((await submit(plan)).body.id).toBe('batch-1');
  const other = planOf({ description: 'another one' });
  expect((await submit(other)).body.code).toBe('idempotency_conflict');
  const cleo = await service.issue('cleo');
  expect((await submit(plan, {}, cleo)).body.code).toBe('idempotency_conflict');
  for (const path of ['', '/plan', '/results', '/stream', '/results/file?name=x'])
    expect((await service.call({ path: `/api/v1/runs/batch-1${path}`, key: cleo })).status, path).toBe(404);
  const drain = { type: 'drainRequested', requestId: 'd1' };
  const control = { method: 'POST', path: '/api/v1/runs/batch-1/control', body: drain };
  expect((await service.call({ ...control, key: cleo })).status).toBe(404);
  expect((await service.call({ ...control, key: service.ben })).body).toEqual({ accepted: true });
  expect((await service.call({ path: '/api/v1/runs/batch-1', key: service.ada })).status).toBe(200);
  const read = await service.call({ path: '/api/v1/runs/batch-1/plan', key: service.ben });
  expect(read.body.hash).toBe(plan.hash);
});

it('refuses what was changed, and what would reach secrets or files of the service', async () => {
  const service = await openService();
  const submit = async (plan: unknown, more: object = {}) =>
    (await service.call({ method: 'POST', path: '/api/v1/runs', key: service.ben, body: { plan, ...more } }))
      .body;
  expect((await submit({ ...planOf(), description: 'changed' })).code).toBe('plan_invalid');
  const secrets = { TOKEN: { from: 'env', name: 'PARLEY_SEAL_KEY' } } as const;
  expect(await submit(planOf({ secrets }))).toMatchObject({
    code: 'secret_unknown',
    detail: 'Cannot start the run: no value came with it for "TOKEN"',
  });
  expect((await submit(planOf({ secrets }), { secrets: { OTHER: 'x' } })).code).toBe('secret_unknown');
  const reconcile = {
    ...{ settleMs: 0, windowBeforeMs: 0, windowAfterMs: 0, unmatchedNanoUsdMax: null },
    ambiguous: 'keep',
    rows: { from: 'file', path: '/etc/passwd' },
  } as const;
  expect((await submit(planOf({ reconcile }))).code).toBe('invalid_request');
  expect((await submit({ ...planOf(), items: [] })).code).toBe('invalid_request');
});

it('refuses a run, and a start, that names a host where sandboxes live on none', async () => {
  const service = await openService();
  const placement = { strategy: null, sandboxId: null, host: 'gpu-1', labels: { gpu: '<b>' } };
  const run = { method: 'POST', path: '/api/v1/runs', key: service.ben };
  const refused = await service.call({ ...run, body: { plan: planOf({ placement }) } });
  expect([refused.status, refused.body.code], refused.text).toEqual([409, 'placement_failed']);
  expect(refused.body.detail).toContain('on the host "gpu-1" with the labels gpu: <b>: sandboxes of this');
  const badly = planOf({ placement: { ...placement, host: 'gpu 1@x' } });
  expect((await service.call({ ...run, body: { plan: badly } })).body.code).toBe('invalid_request');
  const start = (body: object) =>
    service.call({ method: 'POST', path: '/api/v1/app-conversations', key: service.ben, body });
  expect((await start({ host_labels: { gpu: 'a100' } })).body.code).toBe('placement_failed');
  const both = await start({ host: 'gpu-1', sandbox_id: '0'.repeat(32) });
  expect([both.status, both.text]).toEqual([422, expect.stringContaining('on its host already')]);
  for (const body of [{ host: '../x' }, { host_labels: { gpu: '\u001b[31m' } }, { host_labels: { '': 'x' } }])
    expect((await start(body)).status, JSON.stringify(body)).toBe(422);
});
