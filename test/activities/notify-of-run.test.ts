/** notifyOfRun: what a receiver is sent about a run, when it is sent, and what is kept of it. */
import { describe, expect, it } from 'vitest';
import { readLastSteps } from '../../activities/report/last-steps.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Plan, PlanNotify } from '../../core/plan/plan.ts';
import type { RunRow } from '../../core/machine/projection.ts';
import type { WebhookMessage } from '../../ports/webhook-sender.ts';
import { plan } from '../conformance/script-parts.ts';
import { activityWorld, answerOf, attempt, RUN } from './activity-world.ts';
import { runRow } from '../contract/store-rows.ts';

const STEP: PlanNotify = {
  kind: 'notify',
  to: { url: 'https://receiver.example/hook' },
  keySecret: null,
  text: '{job} {run}: {status}, {succeeded} of {total} for {usd}, {else}',
  when: 'always',
  timeoutMs: 1_000,
};
const ORDER = { id: 'run/run-1#9', type: 'notifyOfRun', runId: RUN, step: 0 } as const;

async function setUp(
  steps: readonly Partial<PlanNotify>[],
  row: Partial<RunRow> = {},
  change: Partial<Plan> = {},
) {
  const around = await activityWorld();
  const sent: WebhookMessage[] = [];
  const problems: Error[] = [];
  const webhooks = {
    send: (message: WebhookMessage) => {
      sent.push(message);
      const problem = problems.shift();
      return problem === undefined ? Promise.resolve() : Promise.reject(problem);
    },
  };
  const test = { ...around, world: { ...around.world, webhooks } };
  const finals = steps.map((step) => ({ ...STEP, ...step }));
  await test.world.plans.putPlan(RUN, plan(2, { finally: finals, report: [], ...change }));
  await test.world.records.project([
    runRow({
      runId: RUN,
      total: 2,
      ended: { succeeded: 2 },
      spentNanoUsd: 1_250_000_000,
      phase: 'closing',
      ...row,
    }),
  ]);
  return { test, sent, problems };
}

describe('notifyOfRun', () => {
  it('tells what the run came to, under an id that every try shares', async () => {
    const { test, sent, problems } = await setUp([{}]);
    problems.push(new ParleyError('notify_failed', 'Cannot notify: the receiver answered 503'));
    await expect(attempt(test, ORDER)).rejects.toMatchObject({ code: 'notify_failed' });
    expect(await readLastSteps(test.world, RUN)).toMatchObject([
      { step: 0, state: 'failed', problem: { code: 'notify_failed' } },
    ]);
    expect(await attempt(test, ORDER)).toEqual({ type: 'runNotified', commandId: ORDER.id, isSent: true });
    expect(sent.map(({ id }) => id)).toEqual([sent[0]?.id, sent[0]?.id]);
    expect(sent[0]).toMatchObject({ url: 'https://receiver.example/hook', key: null });
    expect(JSON.parse(sent[1]?.body ?? '')).toMatchObject({
      type: 'run.ended',
      run: RUN,
      status: 'succeeded',
      total: 2,
      ended: { succeeded: 2 },
      spent_nano_usd: 1_250_000_000,
      text: `batch ${RUN}: succeeded, 2 of 2 for 1.250000, {else}`,
    });
    expect(await readLastSteps(test.world, RUN)).toMatchObject([{ step: 0, state: 'sent', problem: null }]);
  });

  it.each([
    ['always', {}, 'sent'],
    ['succeeded', {}, 'sent'],
    ['failed', {}, 'not_wanted'],
    ['succeeded', { ended: { succeeded: 1, failed: 1 } }, 'not_wanted'],
    ['failed', { ended: { succeeded: 1, failed: 1 } }, 'sent'],
    ['failed', { mode: 'cancelling', ended: { succeeded: 2 } }, 'sent'],
  ] as const)('of a receiver that wants %s, and a run of %j: %s', async (when, row, state) => {
    const { test, sent } = await setUp([{ when }], row);
    const isSent = state === 'sent';
    expect(await attempt(test, ORDER)).toEqual({ type: 'runNotified', commandId: ORDER.id, isSent });
    expect(sent.length).toBe(isSent ? 1 : 0);
    expect(await readLastSteps(test.world, RUN)).toMatchObject([{ state }]);
  });

  it('counts what is tolerated as success', async () => {
    const { test, sent } = await setUp(
      [{}],
      { ended: { succeeded: 1, failed: 1 } },
      { tolerate: { failed: 1 } },
    );
    await attempt(test, ORDER);
    expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject({ status: 'succeeded' });
  });

  it('opens the secrets that hold the address and the key, and puts neither into what is kept', async () => {
    const secrets = { hook: { from: 'env', name: 'HOOK' }, sign: { from: 'env', name: 'SIGN' } } as const;
    const { test, sent, problems } = await setUp(
      [{ to: { secret: 'hook' }, keySecret: 'sign' }],
      {},
      { secrets },
    );
    test.secretValues.set('HOOK', 'https://receiver.example/planted-address').set('SIGN', 'planted-key');
    problems.push(new ParleyError('notify_refused', 'Cannot notify: the receiver answered 404'));
    expect(await answerOf(test, ORDER)).toEqual({
      type: 'notifyFailed',
      commandId: ORDER.id,
      reason: 'notify_refused: Cannot notify: the receiver answered 404',
    });
    expect(sent[0]).toMatchObject({ url: 'https://receiver.example/planted-address', key: 'planted-key' });
    expect(JSON.stringify([sent[0]?.body, await readLastSteps(test.world, RUN)])).not.toContain('planted');
  });

  it('says which secret is missing, and of which step a plan knows nothing', async () => {
    const { test } = await setUp([{ to: { secret: 'hook' } }]);
    expect(await answerOf(test, ORDER)).toMatchObject({
      reason: 'secret_unknown: Cannot find the secret "hook"',
    });
    expect(await answerOf(test, { ...ORDER, step: 7 })).toMatchObject({ type: 'notifyFailed' });
  });
});
