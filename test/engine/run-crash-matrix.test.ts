/** A batch killed at every one of its events and taken up again: the same set of outcomes, and every cost counted once. */
import { describe, expect, it } from 'vitest';
import type { CommandOf, MachineEvent } from '../../core/machine/command.ts';
import { runId, userId } from '../../core/ids.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import { wholeState } from '../../core/machine/machine.ts';
import { runSpec } from '../../core/run/run-spec.ts';
import { runMachine } from '../../core/run/machine.ts';
import type { RunState } from '../../core/run/state.ts';
import { item, plan, told } from '../conformance/script-parts.ts';
import { CONVERSATION_SPEC } from '../core/conversation-life.ts';
import { conversationOf } from '../core/run-life.ts';
import { reportOf, type Overrides } from './fake-activities.ts';
import { beginLife, newStore, type EngineLife } from './engine-harness.ts';
import { memoryStore } from './memory-store.ts';
import { turns, until } from './movable-clock.ts';

const RUN = { machine: 'run', id: runId('r') } as const;
const COST_NANO_USD = 10;
/** A real store flushes every commit: all events would take minutes. */
const SAMPLED_EVERY = 23;

/** A first stage with a failure that is tried again, and a second stage that needs it. */
const ITEMS: readonly PlanItem[] = [
  item(0, { entry: 'first' }),
  item(1, { entry: 'first' }),
  item(2, { entry: 'second', needs: [{ entry: 'first', outcome: 'succeeded', each: false }] }),
];
const PLAN: Plan = plan(3, {
  items: ITEMS,
  admission: { concurrency: 2, canary: 1 },
  retry: [{ on: ['agent_error'], attempts: 1, initialMs: 0, factor: 1, maxMs: 0 }],
  cleanup: { sandbox: 'keep', conversation: 'keep', onCollectFailure: 'keep' },
  reconcile: null,
  finally: [told(), told()],
});
/** Of the first attempt of the second item: it fails. */
const FAILING = conversationOf(1, 1);

/** Starts are delivered to the engine that is alive now; a repeat starts the same conversation. */
function activities(alive: Promise<EngineLife>): Overrides {
  return {
    async startConversation({
      id: commandId,
      index,
      attempt,
      runId: id,
      key,
    }: CommandOf<'startConversation'>) {
      const conversationId = conversationOf(index, attempt);
      const messageId = `first-${index}-${attempt}`;
      const spec = {
        ...CONVERSATION_SPEC,
        ...{ conversationId, runId: id, key, itemIndex: index },
        initialMessage: { messageId, text: 't', run: true },
      };
      const event = { type: 'started', watcher: RUN, spec: spec } as const;
      await (await alive).engine.deliver({ to: { machine: 'conversation', id: conversationId }, event });
      return { type: 'conversationStarted', commandId, index, conversationId };
    },
    async watchAgent({ id: commandId, conversationId, generation }): Promise<MachineEvent> {
      const status = conversationId === FAILING ? 'ERROR' : 'FINISHED';
      const at = (await alive).clock.now();
      return { type: 'agentReported', commandId, report: reportOf(status, at, generation) };
    },
    collectItem: ({ id: commandId, index }) => ({
      type: 'itemCollected',
      commandId,
      index,
      costNanoUsd: COST_NANO_USD,
    }),
    reportRun: ({ id: commandId }) => ({ type: 'runReported', commandId }),
    notifyOfRun: ({ id: commandId }) => ({ type: 'runNotified', commandId, isSent: true }),
  };
}

type Stored = ReturnType<typeof memoryStore>;

async function begin(store: Stored, commitsLeft?: number): Promise<EngineLife> {
  // Commands in flight are carried out again while the engine still begins.
  let alive: (life: EngineLife) => void = () => undefined;
  const begun = new Promise<EngineLife>((resolve) => (alive = resolve));
  const options = { store, batchEventsMax: 1, activities: activities(begun) };
  const life = await beginLife(commitsLeft === undefined ? options : { ...options, commitsLeft });
  alive(life);
  return life;
}

async function runOf(store: Stored): Promise<RunState | null> {
  const stored = await store.engine.load(RUN);
  return stored === null ? null : wholeState(runMachine, stored);
}

const hasFinished = async (store: Stored): Promise<boolean> => (await runOf(store))?.phase === 'finished';

async function finalSet(store: Stored): Promise<unknown> {
  const run = await runOf(store);
  return {
    spentNanoUsd: run?.spentNanoUsd,
    items: run?.items.map(({ key, attempt, ending, costNanoUsd, past }) => ({
      ...{ key, attempt, costNanoUsd, past },
      outcome: ending?.outcome,
    })),
    outbox: (await store.engine.outbox()).filter(({ sender }) => sender.machine === 'run'),
  };
}

function startRun({ engine }: EngineLife): Promise<void> {
  const spec = runSpec(PLAN, { runId: RUN.id, userId: userId('u') });
  return engine.deliver({ to: RUN, event: { type: 'runStarted', spec } });
}

/** The same batch, its engine dead after so many commits, and another engine on what it left. */
async function killedAfter(commitsLeft: number, store: Stored): Promise<unknown> {
  const first = await begin(store, commitsLeft);
  await startRun(first);
  await until(() => first.store.commits.length === commitsLeft);
  await turns();
  const second = await begin(store);
  await until(() => hasFinished(store));
  await second.engine.settled();
  return await finalSet(store);
}

async function undisturbed(store: Stored): Promise<{ readonly end: unknown; readonly commits: number }> {
  const life = await begin(store);
  await startRun(life);
  await until(() => hasFinished(store));
  await life.engine.settled();
  return { end: await finalSet(store), commits: life.store.commits.length };
}

describe('a batch on the store of an engine that died', () => {
  it('ends with the same set, whichever event was the last', { timeout: 120_000 }, async () => {
    const { end, commits } = await undisturbed(memoryStore());
    expect(end).toMatchObject({
      spentNanoUsd: 4 * COST_NANO_USD,
      items: [
        { attempt: 1, outcome: 'succeeded' },
        { attempt: 2, outcome: 'succeeded' },
        { attempt: 1, outcome: 'succeeded' },
      ],
    });
    expect(commits).toBeGreaterThan(60);
    for (let index = 1; index < commits; index += 1)
      expect(await killedAfter(index, memoryStore()), `killed after event ${index}`).toEqual(end);
  });

  it('does so on a real store, too, at some of its events', { timeout: 120_000 }, async () => {
    const { end, commits } = await undisturbed(await newStore());
    for (let index = 5; index < commits; index += SAMPLED_EVERY)
      expect(await killedAfter(index, await newStore()), `killed after event ${index}`).toEqual(end);
  });
});
