/**
 * The Temporal engine on a server that skips time: the product's workflows, workers, post and carrier, whose commands
 * are answered by whoever orders it about.
 * Owns the wiring, what at rest means and how time leaps; must not know a rule or a model.
 */
import { WithStartWorkflowOperation, WorkflowClient } from '@temporalio/client';
import type { Notifier } from '../../ports/notifier.ts';
import { openStore } from '../../store/open-store.ts';
import type { StepRecord } from '../../workflows/entity.ts';
import { EVENTS_MAX_DEFAULT } from '../../workflows/events-max.ts';
import { noticeSignal, requestUpdate, type Envelope } from '../../workflows/envelope.ts';
import { carrierActivities } from '../../temporal/carrier.ts';
import { payloadCodecOf } from '../../temporal/codec/payload-codec.ts';
import { EntityClient } from '../../temporal/entity-client.ts';
import { tombstones } from '../../temporal/tombstones.ts';
import { startWorkers } from '../../temporal/worker.ts';
import type { EngineOrder, Happening, OrderedEngine, Rest } from './engine-order.ts';
import { HeldTries, type Place } from './held-tries.ts';
import { EnvelopesInFlight } from './envelopes-in-flight.ts';
import { modelActivities } from './model-activities.ts';
import { observedBundle } from './observed/observed-bundle.ts';
import type { Note } from './observed/observer-sinks.ts';
import { heardStore } from './seen-store.ts';
import { ServerClock } from './server-clock.ts';
import { sinksOf } from './observed/sinks-of.ts';
import { startSkippingServer, type SkippingServer } from './skipping-server.ts';
import { Unrest } from './unrest.ts';

const QUEUE = 'skipping';
/** The product's, without a key: a large state is as small on its way here as there. */
const CONVERTER = { payloadCodecs: [payloadCodecOf(null)] };
/** A shorter way is gone in real time: a leap takes as long. */
const LEAP_MIN_MS = 60;

export interface SkippingEngineOptions {
  /** The server's program, which takes a port. */
  readonly testServer: string;
  /** The product's, where a play is not about it. */
  readonly eventsMax?: number;
  /** Told as soon as the server has started, so that it can be ended whatever becomes of the engine. */
  readonly onServer?: (pid: number) => void;
}

type Delivery = Parameters<Notifier['deliver']>[0];
type Parts = Awaited<ReturnType<typeof wire>>;

/** A fresh server may give up on its first request when the machine is busy; one that took it plays. */
const OPENED_MAX = 3;

/** A fresh server with everything around it, warmed up. */
export async function openSkippingEngine(options: SkippingEngineOptions): Promise<OrderedEngine> {
  for (let tried = 1; ; tried += 1) {
    const server = await startSkippingServer(options.testServer);
    options.onServer?.(server.pid);
    const parts = await wire(server, options);
    try {
      await warmUp(parts.client);
      return engineOn(server, parts);
    } catch (error) {
      await close(server, parts);
      if (tried >= OPENED_MAX) throw error;
    }
  }
}

function engineOn(server: SkippingServer, parts: Parts): OrderedEngine {
  const startAt = parts.clock.now();
  parts.told.passedBeforeMs = parts.clock.passedMs;
  const requests = { count: 0 };
  return {
    startAt,
    async perform(orders) {
      for (const order of orders) await perform(parts, requests, order);
      await rest(parts, requests);
      return atRest(parts);
    },
    async close() {
      await close(server, parts);
      throwFirst(parts.problems);
    },
  };
}

async function close(server: SkippingServer, { tries, workers, store, problems }: Parts): Promise<void> {
  tries.sendAllAway();
  await workers.stop().catch((problem: unknown) => problems.push(problem));
  await server.stop();
  await store.close();
}

async function wire({ env }: SkippingServer, { eventsMax = EVENTS_MAX_DEFAULT }: SkippingEngineOptions) {
  const bundlePath = await observedBundle();
  const problems: unknown[] = [];
  const notices = new NoticesInOrder((problem) => problems.push(problem));
  /** Envelopes that met a run on its way out, by workflow id: for the next one. */
  const late = new Map<string, readonly Envelope[]>();
  const clock = await ServerClock.of(env);
  const told = { happened: [] as Happening[], passedBeforeMs: 0 };
  const store = await openStore({ kind: 'sqlite', path: ':memory:' });
  const engineStore = heardStore(store.engine, (rows) => told.happened.push({ kind: 'rows', rows }));
  const tries = new HeldTries();
  const unrest = new Unrest(tries);
  const envelopes = new EnvelopesInFlight((id) => unrest.isOpen(id));
  const onStep = (step: StepRecord): void => {
    told.happened.push({ kind: 'step', step, passedMs: clock.passedMs - told.passedBeforeMs });
    for (const command of step.commands)
      if (command.type === 'cancelCommand') tries.cancel(command.commandId);
  };
  const client = new WorkflowClient({
    connection: env.connection,
    dataConverter: CONVERTER,
    interceptors: [envelopes.interceptor],
  });
  const buried = tombstones(engineStore, clock, onStep);
  const entities = new EntityClient({ client, queue: QUEUE, eventsMax, tombstones: buried, clock });
  const pace = { now: () => clock.now(), nextAt: clock.now() };
  const workers = await startWorkers({
    connection: env.nativeConnection,
    namespace: 'default',
    queue: QUEUE,
    bundlePath,
    activities: carrierActivities({
      store: engineStore,
      send: (envelope) => entities.send(envelope),
      activities: modelActivities(tries, pace),
      clock,
    }),
    extra: {
      dataConverter: CONVERTER,
      sinks: sinksOf({
        onStep,
        onNote: (...heard) => hear({ unrest, tries, client, notices, late }, ...heard),
        onLate: (workflowId, envelope) =>
          void late.set(workflowId, [...(late.get(workflowId) ?? []), envelope]),
      }),
      shutdownGraceTime: 1,
      shutdownForceTime: 1_000,
    },
  });
  return {
    problems,
    clock,
    store,
    tries,
    unrest,
    envelopes: envelopes,
    client,
    entities,
    pace,
    workers,
    told,
    notices,
    late,
  };
}

async function hear(
  { unrest, tries, client, notices, late }: Pick<Parts, 'unrest' | 'tries' | 'client' | 'notices' | 'late'>,
  workflowId: string,
  runId: string,
  note: Note,
): Promise<void> {
  unrest.hear(workflowId, runId, note);
  if (note.end === 'open') {
    for (const envelope of late.get(workflowId) ?? [])
      notices.say(() => client.getHandle(workflowId).signal(noticeSignal, envelope));
    late.delete(workflowId);
  }
  // This server's clock stands still for ever for a try that outlives its run; the worker waits for the sink.
  if (note.end !== 'leaving' && note.end !== 'over') return;
  await until(() => note.longs.every((id) => tries.isOver(id) || tries.isHeldBy(id, runId)));
  const ended = tries.endAllOf(runId);
  if (ended.length > 0) await untilForgotten(client, workflowId, ended);
}

async function perform(parts: Parts, requests: { count: number }, order: EngineOrder): Promise<void> {
  const { entities, problems, tries, notices } = parts;
  switch (order.do) {
    case 'notify': {
      const { to, event } = order;
      return notices.say(() => entities.notices.deliver({ to, event } as Delivery));
    }
    case 'request': {
      const { to, event } = order;
      requests.count += 1;
      entities.requests
        .deliver({ to, event } as Delivery)
        .catch((problem: unknown) => problems.push(problem))
        .finally(() => void (requests.count -= 1));
      return;
    }
    case 'answer':
      return tries.end(order.commandId, order.event);
    case 'release':
      return void tries.sendOutOfBatches();
    case 'leap':
      return await leapTo(parts, order.at);
  }
}

/** Every command is looked at again where the leap ends. */
async function leapTo({ clock, pace, tries }: Parts, at: number): Promise<void> {
  const waitMs = at - clock.now();
  if (waitMs <= LEAP_MIN_MS) return await clock.pass(waitMs);
  pace.nextAt = at;
  tries.sendAllAway();
  await clock.leapTo(at);
}

async function rest(parts: Parts, requests: { readonly count: number }): Promise<void> {
  const { unrest, envelopes: envelopes, clock, problems } = parts;
  const untilMs = performance.now() + SETTLE_MAX_MS;
  for (;;) {
    throwFirst(problems);
    const found = underWay(parts, requests) ?? unrest.find(envelopes, clock.now());
    if (found === null) return;
    if (performance.now() > untilMs) throw new Error(`Cannot settle: ${found}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
  }
}

function underWay({ notices, tries }: Parts, requests: { readonly count: number }): string | null {
  if (notices.waiting > 0) return 'something is being delivered';
  // The answer to a request comes with the end of a task, which a local batch holds.
  return requests.count > 0 && !tries.areInBatches ? 'a request waits for its answer' : null;
}

function atRest({ told, unrest, tries }: Parts): Rest {
  const { nextTimerAt } = unrest;
  return {
    happened: told.happened.splice(0),
    nextTimerAt: Number.isFinite(nextTimerAt) ? nextTimerAt : null,
    isHeld: tries.areInBatches,
    runs: unrest.runs,
  };
}

/** What happens at the beginning of a play happens at once, as everything after it. */
async function warmUp(client: WorkflowClient): Promise<void> {
  const workflowId = 'warm-up';
  const startWorkflowOperation = new WithStartWorkflowOperation('warmUp', {
    workflowId,
    taskQueue: QUEUE,
    workflowIdConflictPolicy: 'FAIL',
  });
  const envelope = { id: workflowId, event: { type: 'deadline' } } as const;
  await client.executeUpdateWithStart(requestUpdate, { args: [envelope], startWorkflowOperation });
  await client.getHandle(workflowId).result();
}

function throwFirst(problems: readonly unknown[]): void {
  if (problems.length > 0)
    throw new Error(`Cannot play on Temporal: ${String(problems[0])}`, { cause: problems[0] });
}

/** What the world says, one after the other, in the order in which it is said. */
class NoticesInOrder {
  waiting = 0;
  private last: Promise<void> = Promise.resolve();
  private readonly onProblem: (problem: unknown) => void;

  constructor(onProblem: (problem: unknown) => void) {
    this.onProblem = onProblem;
  }

  say(deliver: () => Promise<void>): void {
    this.waiting += 1;
    this.last = this.last
      .then(deliver)
      .catch(this.onProblem)
      .then(() => void (this.waiting -= 1));
  }
}

/** How often it is asked whether everything is settled, in real time. */
const POLL_EVERY_MS = 2;
/** Real time that settling may take on a machine that is busy with other tests. */
const SETTLE_MAX_MS = 30_000;

/**
 * Until the server has heard that tries of a workflow's activities are over. It forgets activities that ended; of one
 * that waits for its next try it says that it is under way.
 */
function untilForgotten(client: WorkflowClient, workflowId: string, tries: readonly Place[]): Promise<void> {
  return until(async () => {
    const { raw } = await client.getHandle(workflowId).describe();
    const pending = new Set((raw.pendingActivities ?? []).map(({ activityId }) => activityId));
    return !tries.some(({ activityId }) => pending.has(activityId));
  });
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + SETTLE_MAX_MS;
  while (!(await isSo()) && performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
}
