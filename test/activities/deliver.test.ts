/** Delivering: which results become a branch, what is kept as evidence, and what a failure leaves alone. */
import { describe, expect, it } from 'vitest';
import { repositoryScope, secretScope } from '../../activities/redaction.ts';
import { collectNow } from '../../activities/collect-now.ts';
import type { PlanDeliver } from '../../core/plan/plan-deliver.ts';
import type { PlanItem } from '../../core/plan/plan.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { BranchRequest } from '../../ports/branch-delivery.ts';
import type { PullRequestRequest } from '../../ports/code-host-api.ts';
import { runItemRow, runRow } from '../contract/store-rows.ts';
import {
  activityWorld,
  answerOf,
  attempt,
  COLLECT_ORDER as ORDER,
  CONVERSATION,
  inSandbox,
  RUN,
  SANDBOX,
  type ActivityWorld,
} from './activity-world.ts';
import { planWith } from './plan-rows.ts';

const BASE = 'c0ffee'.repeat(6) + 'c0ff';
const COMMIT = 'd'.repeat(40);
const TOKEN = 'planted-host-token';
const REPOSITORY = { name: 'acme/app', branch: null, host: null, tokenSecret: null };
const LAST = { signal: new AbortController().signal, attempt: 2 };

interface Setting {
  readonly deliver?: Partial<PlanDeliver>;
  readonly item?: Partial<PlanItem>;
  readonly row?: Partial<RunItemRow>;
  readonly finished?: boolean;
  /** How pushes go, one after the other; the last one goes on. */
  readonly ends?: readonly (ParleyError | null)[];
}

interface Delivering extends ActivityWorld {
  readonly pushes: BranchRequest[];
  evidence(): Promise<Record<string, unknown> | null>;
  facts(): Promise<readonly { readonly code: string; readonly detail: string }[]>;
}

async function delivering(setting: Setting = {}): Promise<Delivering> {
  const around = await activityWorld();
  const { world } = around;
  await inSandbox(around, {
    conversation: { executionStatus: setting.finished === false ? 'ERROR' : 'FINISHED' },
  });
  await world.workspaces.putFacts(CONVERSATION, { workingDir: around.workspaceDir, baseCommit: BASE });
  const deliver: PlanDeliver = {
    branch: 'parley/{run}/{key}',
    message: '{job}: {key}',
    when: 'succeeded',
    ...setting.deliver,
  };
  const item = { repository: REPOSITORY, ...setting.item };
  const plan = planWith(item, { collect: [{ kind: 'diff' }], deliver });
  await world.plans.putPlan(RUN, plan);
  const row = runItemRow('one', {
    runId: RUN,
    conversationId: CONVERSATION,
    failureClass: null,
    ...setting.row,
  });
  await world.records.project([runRow({ runId: RUN, planHash: plan.hash }), row]);
  await world.vault.put(repositoryScope(CONVERSATION), 'token', TOKEN);
  await world.vault.put(secretScope(CONVERSATION), 'OTHER', 'hunter2/hunter2');
  around.agent.patchText = 'diff --git a/x b/x\n';
  const pushes: BranchRequest[] = [];
  const ends = [...(setting.ends ?? [null])];
  const branches: typeof world.branches = {
    async deliver(request) {
      pushes.push(request);
      await request.announce(COMMIT);
      const error = ends.length > 1 ? ends.shift() : ends[0];
      if (error != null) throw error;
      return { commit: COMMIT, pushed: true };
    },
  };
  return {
    ...around,
    world: { ...world, branches },
    pushes,
    async evidence() {
      const bytes = await world.results.read({ runId: RUN, key: 'one', name: 'delivery.json' });
      return bytes === null ? null : (JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>);
    },
    facts: () => world.lifecycle.lifecycleEvents(CONVERSATION),
  };
}

const COLLECTED = { type: 'itemCollected', index: 0 };
const unreachable = new ParleyError('deliver_failed', `Cannot push: it said ${TOKEN}`);

describe('a result that is delivered', () => {
  it('is pushed after it was collected, with the names of the plan, and the evidence says where', async () => {
    const around = await delivering({
      item: { repository: { ...REPOSITORY, author: { name: 'Ann', email: 'a@b.c' } } },
    });
    expect(await answerOf(around, ORDER)).toMatchObject(COLLECTED);
    expect(around.pushes).toMatchObject([
      {
        repository: { provider: null, name: 'acme/app' },
        token: TOKEN,
        baseCommit: BASE,
        branch: 'parley/run-1/one',
        message: 'job: one',
        author: { name: 'Ann', email: 'a@b.c' },
        ours: [],
      },
    ]);
    expect(await around.evidence()).toMatchObject({
      state: 'pushed',
      branch: 'parley/run-1/one',
      commits: [COMMIT],
    });
    expect(await around.facts()).toMatchObject([
      { code: 'branch_delivered', detail: expect.stringContaining(COMMIT) },
    ]);
    expect(JSON.stringify(await around.evidence())).not.toContain(TOKEN);
  });

  it('knows its own commits when it is collected again, and says nothing new', async () => {
    const around = await delivering();
    await answerOf(around, ORDER);
    await answerOf(around, ORDER);
    expect(around.pushes.map(({ ours }) => ours)).toEqual([[], [COMMIT]]);
    expect(new Set(around.pushes.map(({ at }) => at)).size).toBe(1);
    expect(await around.facts()).toHaveLength(1);
  });

  it('has written down what it is about to push before it pushes', async () => {
    const around = await delivering();
    const seen: unknown[] = [];
    const { branches } = around.world;
    const world = {
      ...around.world,
      branches: {
        deliver: async (request: BranchRequest) => {
          await request.announce(COMMIT);
          seen.push(await around.evidence());
          return branches.deliver(request);
        },
      },
    };
    await answerOf({ ...around, world }, ORDER);
    expect(seen).toMatchObject([{ state: 'pushing', commits: [COMMIT] }]);
  });

  it.each<[string, Setting, boolean]>([
    ['an agent that has not finished', { finished: false }, false],
    ['a failure of any class', { row: { failureClass: 'cancelled' } }, false],
    ['a check that left no log', { item: { verify: { command: 'true', timeoutMs: 1 } } }, false],
    ['an agent that has not finished, always', { finished: false, deliver: { when: 'always' } }, true],
    ['no repository', { item: { repository: null }, deliver: { when: 'always' } }, false],
  ])('pushes as the plan says: %s', async (_, setting, expected) => {
    const around = await delivering(setting);
    expect(await answerOf(around, ORDER)).toMatchObject(COLLECTED);
    expect(around.pushes).toHaveLength(expected ? 1 : 0);
  });

  it.each([
    [0, 1],
    [1, 0],
  ])('pushes what a check found good alone: exit code %s', async (code, count) => {
    const around = await delivering({ item: { verify: { command: `exit ${code}`, timeoutMs: 60_000 } } });
    await attempt(around, { ...ORDER, type: 'verifyItem', sandboxId: SANDBOX });
    await answerOf(around, ORDER);
    expect(around.pushes).toHaveLength(count);
  });

  it('pushes nothing without a change, and nothing that holds the value of a secret', async () => {
    const empty = await delivering();
    empty.agent.patchText = '';
    await answerOf(empty, ORDER);
    expect(empty.pushes).toEqual([]);
    expect(await empty.evidence()).toMatchObject({ state: 'nothing', problem: null });
    const leaking = await delivering();
    leaking.agent.patchText = 'diff with hunter2/hunter2\n';
    await answerOf(leaking, ORDER);
    expect(leaking.pushes).toEqual([]);
  });
});

describe('a result that could not be delivered', () => {
  it('is collected all the same, and the reason is kept without the credential', async () => {
    const refused = new ParleyError('deliver_refused', `Cannot push: it said ${TOKEN}`);
    const around = await delivering({ ends: [refused] });
    expect(await answerOf(around, ORDER)).toMatchObject(COLLECTED);
    expect(await around.evidence()).toMatchObject({ state: 'failed', problem: { code: 'deliver_refused' } });
    expect(await around.facts()).toMatchObject([{ code: 'delivery_failed' }]);
    const kept = JSON.stringify([await around.evidence(), await around.facts()]);
    expect(kept).not.toContain(TOKEN);
  });

  it('is tried again while the host does not answer, and then let go', async () => {
    const around = await delivering({ ends: [unreachable] });
    await expect(attempt(around, ORDER)).rejects.toMatchObject({ code: 'deliver_failed' });
    expect(await attempt(around, ORDER, LAST)).toMatchObject(COLLECTED);
    expect(around.pushes).toHaveLength(2);
  });

  it('is pushed by collecting once more, from what was stored', async () => {
    const row = { phase: 'ended', outcome: 'succeeded' } as const;
    const around = await delivering({ row, ends: [unreachable, null] });
    await attempt(around, ORDER, LAST);
    expect(await around.evidence()).toMatchObject({ state: 'failed', commits: [COMMIT] });
    const files = await collectNow(around.world, RUN);
    expect(files.some((file) => file.endsWith('one/delivery.json'))).toBe(true);
    expect(await around.evidence()).toMatchObject({ state: 'pushed', commits: [COMMIT] });
    expect(await collectNow(around.world, RUN)).not.toContainEqual(expect.stringContaining('delivery'));
  });
});

describe('a pull request behind a branch', () => {
  const PULL = {
    ...{ title: '{job}: {key}', body: '', isDraft: false, labels: [], reviewers: [], base: null },
    ...{ comment: null, tokenSecret: null },
  };
  const opened = { number: 7, url: 'https://forge.example/7', state: 'opened', notes: [] } as const;

  async function pulling(
    ends: readonly (typeof opened | ParleyError)[],
    row: Partial<RunItemRow> = {},
    waits: readonly string[] = [],
  ) {
    const around = await delivering({ deliver: { pullRequest: PULL }, row });
    const asked: PullRequestRequest[] = [];
    const left = [...ends];
    const world = {
      ...around.world,
      codeHostApi: {
        providerOf: (provider: string | null) => provider ?? 'github',
        pullRequest(request: PullRequestRequest) {
          asked.push(request);
          if (asked.length === 1) waits.forEach((words) => request.onWait(words));
          const end = left.length > 1 ? left.shift() : left[0];
          return end instanceof ParleyError ? Promise.reject(end) : Promise.resolve(end ?? opened);
        },
      },
    };
    return { ...around, world, asked };
  }

  it('is opened with the credential that pushes, and the evidence says where it is', async () => {
    const around = await pulling([opened]);
    expect(await answerOf(around, ORDER)).toMatchObject(COLLECTED);
    expect(around.asked).toMatchObject([
      {
        repository: { provider: null, name: 'acme/app' },
        token: TOKEN,
        head: 'parley/run-1/one',
        title: 'job: one',
      },
    ]);
    expect(await around.evidence()).toMatchObject({
      state: 'pushed',
      pullRequest: { state: 'opened', number: 7, url: opened.url, problem: null },
    });
  });

  it('that the host refuses keeps branch and outcome, tells no secret, and is tried again by collecting', async () => {
    const refused = new ParleyError('code_host_refused', `Cannot open: it said ${TOKEN}`, {
      remedy: 'give it rights',
    });
    const around = await pulling([refused, opened], { phase: 'ended', outcome: 'succeeded' });
    expect(await answerOf(around, ORDER)).toMatchObject(COLLECTED);
    const evidence = await around.evidence();
    expect(evidence).toMatchObject({
      state: 'pushed',
      pullRequest: {
        state: 'failed',
        url: null,
        problem: { code: 'code_host_refused', remedy: 'give it rights' },
      },
    });
    expect(JSON.stringify(evidence)).not.toContain(TOKEN);
    await collectNow(around.world, RUN);
    expect(await around.evidence()).toMatchObject({ pullRequest: { state: 'opened', url: opened.url } });
  });

  it('whose host makes it wait is told while it waits, with until when', async () => {
    const words = 'the code host limits calls: waiting 30 seconds, until 2026-01-02T03:04:05Z, to open it';
    const around = await pulling([opened], {}, [words]);
    expect(await answerOf(around, ORDER)).toMatchObject(COLLECTED);
    expect(await around.facts()).toMatchObject([
      { code: 'delivery_waits', detail: words },
      { code: 'branch_delivered', detail: expect.stringContaining(opened.url) },
    ]);
  });

  it('whose host does not answer is tried again with the collection', async () => {
    const around = await pulling([
      new ParleyError('code_host_failed', 'Cannot open: nobody answers'),
      opened,
    ]);
    await expect(attempt(around, ORDER)).rejects.toMatchObject({ code: 'code_host_failed' });
    expect(await attempt(around, ORDER, LAST)).toMatchObject(COLLECTED);
    expect(around.asked).toHaveLength(2);
  });
});
