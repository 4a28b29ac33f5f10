/** Requests to runs: a run stays on its engine, and the sender of one to a resting run sees that it was accepted. */
import { expect, it, onTestFinished } from 'vitest';
import { runRequests } from '../../host/run-requests.ts';
import type { EngineKind } from '../../host/config/deployment-config.ts';
import { runId } from '../../core/ids.ts';
import { amendedPlanId } from '../../core/run/amend/amended-plan-id.ts';
import type { RunRow } from '../../core/machine/projection.ts';
import type { Delivery } from '../../ports/notifier.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { demoPlan, FINISHED, RUN, runRow } from '../cli/rows.ts';

const CANCEL = { type: 'cancelRequested', requestId: 'r1' } as const;
const ID = runId(RUN);
const NO_SECRETS = { vault: { put: () => Promise.resolve() }, env: {} };

async function newStore(): Promise<Store> {
  const store = await openStore({ kind: 'sqlite', path: `${tempDir()}/parley.db` });
  onTestFinished(() => store.close());
  return store;
}

async function write(
  store: Store,
  row: RunRow,
  entity: { readonly done: boolean } | null = null,
): Promise<void> {
  const address = { machine: 'run', id: ID } as const;
  await store.engine.commit({
    entities: entity === null ? [] : [{ address, state: {}, deadline: null, done: entity.done }],
    outboxAdded: [],
    outboxRetried: [],
    outboxRemoved: [],
    inboxAdded: [],
    inboxRemoved: [],
    projections: [row],
  });
}

const DEPLOYMENT = {
  grouping: 'NO_GROUPING',
  capacity: { installationMax: 100, userMax: 10, conversationsPerSandboxMax: 20 },
} as const;

function requestsOn(store: Store, kind: EngineKind, onDelivery: () => void = () => undefined) {
  const delivered: Delivery[] = [];
  const deliver = (delivery: Delivery): Promise<void> => {
    delivered.push(delivery);
    onDelivery();
    return Promise.resolve();
  };
  const parts = { store, kind, requests: { deliver }, deployment: DEPLOYMENT, ...NO_SECRETS };
  return { delivered, ...runRequests(parts) };
}

it('starts a run once its plan is in the store', async () => {
  const store = await newStore();
  const { startRun, delivered } = requestsOn(store, 'temporal');
  await startRun(ID, demoPlan());
  expect((await store.plans.plan(ID))?.hash).toBe(demoPlan().hash);
  expect(delivered).toMatchObject([{ to: { machine: 'run', id: RUN }, event: { type: 'runStarted' } }]);
});

it('stores an amended plan before the run hears of it, and starts nothing anew for one that has it', async () => {
  const store = await newStore();
  const amended = { ...demoPlan(), hash: 'amended' };
  let isStored = false;
  const stored = store.plans.plan(amendedPlanId(ID, 'amended'));
  expect(await stored).toBeNull();
  const { startRun, tellRun } = requestsOn(store, 'temporal');
  await startRun(ID, demoPlan());
  await write(store, runRow());
  const deliver = async (): Promise<void> => {
    isStored = (await store.plans.plan(amendedPlanId(ID, 'amended'))) !== null;
  };
  const changes = { basePlanHash: 'h', planHash: 'amended', changed: [], added: [], retired: [] } as const;
  const event = { type: 'planAmended', requestId: 'r1', ...changes } as const;
  const parts = {
    store,
    kind: 'temporal',
    requests: { deliver },
    deployment: DEPLOYMENT,
    ...NO_SECRETS,
  } as const;
  await runRequests(parts).tellRun(ID, event, amended);
  expect(isStored).toBe(true);
  await tellRun(ID, event, amended);
  await startRun(ID, amended);
  await expect(startRun(ID, { ...amended, hash: 'strange' })).rejects.toMatchObject({ code: 'run_exists' });
});

it.each([
  ['embedded', 'temporal', null],
  ['temporal', 'embedded', { done: false }],
] as const)('refuses on %s what was begun on %s', async (kind, begunOn, entity) => {
  const store = await newStore();
  await write(store, runRow(), entity);
  const { startRun, tellRun, delivered } = requestsOn(store, kind);
  const refusal = {
    code: 'engine_misconfigured',
    remedy: `add --engine ${begunOn}, or set engine.kind to it`,
  };
  await expect(tellRun(ID, CANCEL)).rejects.toMatchObject(refusal);
  await expect(startRun(ID, demoPlan())).rejects.toMatchObject(refusal);
  expect(delivered).toEqual([]);
  await requestsOn(store, begunOn).tellRun(ID, CANCEL);
});

it.each(['embedded', 'temporal'] as const)('answers on %s for a run that has ended', async (kind) => {
  const store = await newStore();
  await write(store, runRow(FINISHED), { done: true });
  const { tellRun, delivered } = requestsOn(store, kind);
  await tellRun(ID, CANCEL);
  expect(delivered).toHaveLength(1);
});

it('knows no run without a row', async () => {
  const { tellRun } = requestsOn(await newStore(), 'temporal');
  await expect(tellRun(ID, CANCEL)).rejects.toMatchObject({ code: 'not_found' });
});

it('waits on Temporal until a resting run has heard', async () => {
  const store = await newStore();
  const resting = runRow({ mode: 'paused', inFlight: 0, sequence: 5 });
  await write(store, resting);
  let heard = false;
  const { tellRun } = requestsOn(store, 'temporal', () => {
    setTimeout(() => {
      heard = true;
      void write(store, { ...resting, mode: 'normal', sequence: 6 });
    }, 200);
  });
  await tellRun(ID, { type: 'resumeRequested', requestId: 'r2', classes: [] });
  expect(heard).toBe(true);
  expect((await store.records.run(ID))?.mode).toBe('normal');
});
