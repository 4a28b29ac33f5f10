/** startConversation: from one item of a plan to a start request, with its secrets sealed. */
import { describe, expect, it } from 'vitest';
import { launchFacts } from '../../activities/launch-facts.ts';
import { secretScope } from '../../activities/redaction.ts';
import { conversationId } from '../../core/ids.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import { activityWorld, answerOf, RUN, type ActivityWorld } from './activity-world.ts';
import { planWith } from './plan-rows.ts';

const ORDER = {
  type: 'startConversation',
  id: `run/${RUN}#1`,
  runId: RUN,
  index: 0,
  key: 'one',
  attempt: 1,
} as const;
const TOKEN = 's3cret/value+1';

async function planned(item: Partial<PlanItem>, change: Partial<Plan> = {}): Promise<ActivityWorld> {
  const around = await activityWorld();
  around.secretValues.set('DEPLOY', TOKEN);
  const secrets = { deploy: { from: 'env', name: 'DEPLOY' }, gone: { from: 'env', name: 'GONE' } } as const;
  await around.world.plans.putPlan(RUN, planWith(item, { secrets, ...change }));
  return around;
}

const refused = (code: string): unknown => ({
  type: 'startRefused',
  commandId: ORDER.id,
  index: 0,
  reason: expect.stringMatching(`^${code}: `),
});

describe('startConversation', () => {
  it('gives a conversation that has one its own time without progress', async () => {
    const wait = {
      until: ['FINISHED'],
      deadlineMs: null,
      noProgressMs: 7_000,
      onSessionLimit: 'resume',
    } as const;
    const around = await planned({ wait });
    await answerOf(around, ORDER);
    expect(around.told[0]).toMatchObject({ event: { spec: { noProgressMs: 7_000 } } });
  });

  it('tells the conversation everything but secrets, and seals those', async () => {
    const repository = { name: 'acme/tool', branch: 'main', host: 'forge', tokenSecret: 'deploy' };
    const limits = { workingMs: null, turns: 7, nanoUsd: 9 };
    const around = await planned({ secrets: { TOKEN: 'deploy' }, repository, limits });
    const answer = await answerOf(around, ORDER);
    const id = around.world.keys.conversationIdOf(ORDER);
    expect(answer).toEqual({
      type: 'conversationStarted',
      commandId: ORDER.id,
      index: 0,
      conversationId: id,
    });
    expect(around.told).toHaveLength(1);
    expect(around.told[0]).toMatchObject({
      to: { machine: 'conversation', id },
      event: {
        type: 'started',
        watcher: { machine: 'run', id: RUN },
        spec: {
          runId: RUN,
          key: 'one',
          repository: 'acme/tool',
          codeHost: 'forge',
          branch: 'main',
          iterationsMax: 7,
          nanoUsdMax: 9,
        },
      },
    });
    expect(JSON.stringify(around.told)).not.toContain(TOKEN);
    expect(await around.world.vault.get(secretScope(id), 'TOKEN')).toBe(TOKEN);
    expect(await around.world.vault.get(`repository/${id}`, 'token')).toBe(TOKEN);
  });

  it('means the same conversation when it is repeated, and another one for the next attempt', async () => {
    const around = await planned({});
    await answerOf(around, ORDER);
    await answerOf(around, ORDER);
    await answerOf(around, { ...ORDER, attempt: 2 });
    const [first, again, next] = around.told.map(({ to }) => to.id);
    expect([again === first, next === first]).toEqual([true, false]);
    expect(around.told[1]).toEqual(around.told[0]);
  });

  it.each([
    ['raw', `use ${TOKEN} now`],
    ['base64', Buffer.from(TOKEN).toString('base64')],
    ['URL-encoded', encodeURIComponent(TOKEN)],
  ])('refuses a prompt that holds the value of a secret: %s', async (_, prompt) => {
    const around = await planned({ secrets: { TOKEN: 'deploy' }, prompt });
    expect(await answerOf(around, ORDER)).toEqual(refused('secret_in_message'));
    expect(around.told).toEqual([]);
    expect(await around.world.vault.names(secretScope(around.world.keys.conversationIdOf(ORDER)))).toEqual(
      [],
    );
  });

  it.each([['gone'], ['never_declared']])('refuses a secret that leads nowhere: %s', async (secret) => {
    const around = await planned({ secrets: { TOKEN: secret } });
    expect(await answerOf(around, ORDER)).toEqual(refused('secret_unknown'));
    expect(around.told).toEqual([]);
  });

  it.each(['LLM_API_KEY', 'oh_key', 'Parley_x', 'NOT-A-NAME', ''])(
    'refuses the secret name "%s" as secret_reserved',
    async (name) => {
      const around = await planned({ secrets: { [name]: 'deploy' } });
      expect(await answerOf(around, ORDER)).toEqual(refused('secret_reserved'));
    },
  );

  it('hands the author of the repository on, for the commits of the conversation', async () => {
    const author = { name: 'Ada', email: 'ada@example.invalid' };
    const repository = { name: 'acme/tool', branch: null, host: null, tokenSecret: null, author };
    const around = await planned({ repository });
    await answerOf(around, ORDER);
    const id = around.world.keys.conversationIdOf(ORDER);
    expect(await launchFacts(around.world.vault, id)).toEqual({
      ...{ extraHeaders: {}, gitAuthor: author, plugins: [], setup: null, repository: null, agent: null },
    });
  });

  it('hands on where the work starts and whether submodules are fetched', async () => {
    const repository = { name: 'acme/tool', branch: null, ref: 'v1', host: null, tokenSecret: null };
    const around = await planned({ repository: { ...repository, submodules: true } });
    await answerOf(around, ORDER);
    const id = around.world.keys.conversationIdOf(ORDER);
    expect(await launchFacts(around.world.vault, id)).toMatchObject({
      repository: { ref: 'v1', submodules: true, lfs: false },
    });
  });

  it('hands plugins on, for the start of the agent', async () => {
    const around = await planned({ plugins: [{ source: 'acme/plugins', ref: 'v2', path: null }] });
    await answerOf(around, ORDER);
    const id = around.world.keys.conversationIdOf(ORDER);
    expect(await launchFacts(around.world.vault, id)).toMatchObject({
      plugins: [{ source: 'acme/plugins', host: null, ref: 'v2', path: null }],
    });
  });

  it('refuses with plan_invalid what is in no plan', async () => {
    const around = await planned({});
    expect(await answerOf(around, { ...ORDER, key: 'two' })).toEqual(refused('plan_invalid'));
    expect(await answerOf(around, { ...ORDER, index: 1 })).toMatchObject({
      index: 1,
      reason: expect.stringMatching(/^plan_invalid: /),
    });
    const nowhere = await activityWorld();
    expect(await answerOf(nowhere, ORDER)).toEqual(refused('plan_invalid'));
  });

  it('has one plan per run: another one is run_exists', async () => {
    const around = await planned({});
    await expect(around.world.plans.putPlan(RUN, planWith({}, { hash: 'other' }))).rejects.toMatchObject({
      code: 'run_exists',
    });
    await around.world.plans.putPlan(RUN, planWith({}, { hash: 'hash' }));
  });

  it('places where the plan says, or as the deployment does', async () => {
    const sandboxId = '5'.repeat(32);
    const around = await planned({}, { placement: { strategy: 'ADD_TO_ANY', sandboxId } });
    await answerOf(around, ORDER);
    expect(around.told[0]?.event).toMatchObject({ spec: { strategy: 'ADD_TO_ANY', sandboxId } });
    const plain = await planned({});
    await answerOf(plain, ORDER);
    expect(plain.told[0]?.event).toMatchObject({
      spec: { strategy: 'NO_GROUPING', sandboxId: null, iterationsMax: 500 },
    });
    expect(conversationId(plain.told[0]?.to.id ?? '')).toMatch(/^[0-9a-f]{32}$/);
  });
});
