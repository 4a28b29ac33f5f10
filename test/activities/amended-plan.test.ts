/** A run whose plan was amended: each order finds the item in the plan it names, and reports have what the run has now. */
import { describe, expect, it } from 'vitest';
import { gatherReport } from '../../activities/report/gather-report.ts';
import { amendedPlanId } from '../../core/run/amend/amended-plan-id.ts';
import { item, plan } from '../conformance/script-parts.ts';
import { runRow } from '../contract/store-rows.ts';
import { activityWorld, answerOf, attempt, RUN } from './activity-world.ts';

const FIRST = plan(1, { items: [item(0, { prompt: 'as planned' })], hash: 'first' });
const AMENDED = plan(2, {
  items: [item(0, { prompt: 'as amended' }), item(1, { prompt: 'new' })],
  hash: 'amended',
});
const start = (index: number, planHash?: string) =>
  ({
    id: `run/${RUN}#${index}`,
    type: 'startConversation',
    runId: RUN,
    index,
    key: `item-${index}`,
    attempt: 1,
    ...(planHash === undefined ? {} : { plan: planHash }),
  }) as const;

async function setUp() {
  const test = await activityWorld();
  await test.world.plans.putPlan(RUN, FIRST);
  await test.world.plans.putPlan(amendedPlanId(RUN, 'amended'), AMENDED);
  return test;
}

describe('a run whose plan was amended', () => {
  it('starts an item from the plan that the order names, and from the first one without a name', async () => {
    const test = await setUp();
    await attempt(test, start(0));
    await attempt(test, start(0, 'amended'));
    await attempt(test, start(1, 'amended'));
    const prompts = test.told.map(({ event }) =>
      event.type === 'started' && 'spec' in event && 'initialMessage' in event.spec
        ? event.spec.initialMessage?.text
        : null,
    );
    expect(prompts).toEqual(['as planned', 'as amended', 'new']);
  });

  it('refuses an item that the plan of the order does not have, and a plan that nobody has stored', async () => {
    const test = await setUp();
    expect(await answerOf(test, start(1))).toMatchObject({
      type: 'startRefused',
      reason: `plan_invalid: Cannot find item "item-1" in the plan of run "${RUN}"`,
    });
    expect(await answerOf(test, start(0, 'other'))).toMatchObject({ type: 'startRefused' });
  });

  it('is reported with the items that it has now', async () => {
    const test = await setUp();
    const row = runRow({ runId: RUN, total: 1, planHash: 'first' });
    await test.world.records.project([row]);
    expect((await gatherReport(test.world, RUN)).items.map(({ key }) => key)).toEqual(['item-0']);
    await test.world.records.project([{ ...row, sequence: row.sequence + 1, planHash: 'amended' }]);
    expect((await gatherReport(test.world, RUN)).items.map(({ key }) => key)).toEqual(['item-0', 'item-1']);
  });
});
