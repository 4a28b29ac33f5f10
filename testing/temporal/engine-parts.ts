/**
 * What an engine on a server that skips time is made of: client, workers and store, in a namespace of its own.
 * Owns the wiring, and how all of it is let go; must not know what is ordered of it.
 */
import { WorkflowClient, WorkflowNotFoundError } from '@temporalio/client';
import { carrierActivities } from '../../temporal/carrier.ts';
import { payloadCodecOf } from '../../temporal/codec/payload-codec.ts';
import { EntityClient } from '../../temporal/entity-client.ts';
import { tombstones } from '../../temporal/tombstones.ts';
import { startWorkers } from '../../temporal/worker.ts';
import type { ProjectionRow } from '../../core/machine/projection.ts';
import type { EngineStore } from '../../ports/engine-store.ts';
import type { Journal } from '../../ports/journal.ts';
import { openStore } from '../../store/open-store.ts';
import type { StepRecord } from '../../workflows/entity.ts';
import { noticeSignal, type Envelope } from '../../workflows/envelope.ts';
import type { Happening } from './engine-order.ts';
import { HeldTries, type Place } from './held-tries.ts';
import { EnvelopesInFlight } from './envelopes-in-flight.ts';
import { modelActivities } from './model-activities.ts';
import { observedBundle } from './observed/observed-bundle.ts';
import { type Note, sinksOf } from './observed/observer-sinks.ts';
import { ServerClock } from './server-clock.ts';
import type { SkippingServer } from './skipping-server.ts';
import { Unrest } from './unrest.ts';

/** The queue of the workflows. */
export const QUEUE = 'skipping';
/** The product's, without a key: a large state is as small on its way here as there. */
const CONVERTER = { payloadCodecs: [payloadCodecOf(null)] };

/** How often it is asked whether everything is settled, in real time. */
export const POLL_EVERY_MS = 2;
/** Real time that settling may take on a machine that is busy with other tests. */
export const SETTLE_MAX_MS = 30_000;
/** Until tries that fail at the end of a play come again, far beyond its last moments. */
const AFTERWARDS_MS = 3_600_000;
/** Time leaps so far once none of them is under way any more. */
const TRIES_FAIL_MS = 1_000;

/** On a server that others have played on, too: a namespace for each. */
let plays = 0;

export type EngineParts = Awaited<ReturnType<typeof wire>>;

export async function wire({ env }: SkippingServer, eventsMax: number) {
  plays += 1;
  const namespace = `play-${plays}`;
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
    namespace,
    dataConverter: CONVERTER,
    interceptors: [envelopes.interceptor],
  });
  const buried = tombstones(engineStore, clock, onStep);
  const entities = new EntityClient({ client, queue: QUEUE, eventsMax, tombstones: buried, clock });
  const pace = { now: () => clock.now(), nextAt: clock.now() };
  const workers = await startWorkers({
    connection: env.nativeConnection,
    namespace,
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
      // In this thread: one of its own for each play would load everything anew.
      debugMode: true,
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

/** `onRows` hears of rows when they are written: a model sees them then, as placement does. */
export function heardStore(
  store: EngineStore & Journal,
  onRows: (rows: readonly ProjectionRow[]) => void,
): EngineStore & Journal {
  return {
    ...boundTo(store),
    async commit(batch) {
      await store.commit(batch);
      if (batch.projections.length > 0) onRows(batch.projections);
    },
    async commitJournaled(entry, batch) {
      const verdict = await store.commitJournaled(entry, batch);
      if (verdict.kind === 'applied' && batch.projections.length > 0) onRows(batch.projections);
      return verdict;
    },
    latest: (entity) => store.latest(entity),
  };
}

function boundTo(store: EngineStore): EngineStore {
  return {
    load: (address) => store.load(address),
    armed: () => store.armed(),
    outbox: () => store.outbox(),
    inbox: () => store.inbox(),
    commit: (batch) => store.commit(batch),
  };
}

async function hear(
  {
    unrest,
    tries,
    client,
    notices,
    late,
  }: Pick<EngineParts, 'unrest' | 'tries' | 'client' | 'notices' | 'late'>,
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

/**
 * Ends what is open, so that a play that comes after hears nothing of it; false when it could not be ended. This server
 * waits for ever for a try of an activity whose workflow has ended: before, all of them fail, and come again long after.
 */
export async function endWorkflows({
  tries,
  pace,
  clock,
  unrest,
  client,
  problems,
}: EngineParts): Promise<boolean> {
  pace.nextAt = clock.now() + AFTERWARDS_MS;
  tries.holdNone();
  try {
    await clock.leapTo(clock.now() + TRIES_FAIL_MS);
    await Promise.all(unrest.open.map((workflowId) => end(client, workflowId)));
    return problems.length === 0;
  } catch {
    return false;
  }
}

export async function letGo({ tries, workers, store, problems }: EngineParts): Promise<void> {
  tries.holdNone();
  await workers.stop().catch((problem: unknown) => problems.push(problem));
  await store.close();
}

async function end(client: WorkflowClient, workflowId: string): Promise<void> {
  try {
    await client.getHandle(workflowId).terminate();
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
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
