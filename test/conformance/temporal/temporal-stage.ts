/**
 * The Temporal engine on a stage: the product's workflows, workers, post and carrier on a server that skips time.
 * Owns the wiring, what settled means and how time leaps; must not know a rule.
 */
import { WithStartWorkflowOperation, WorkflowClient } from '@temporalio/client';
import { isActivityCommand, type MachineEvent } from '../../../core/command.ts';
import type { EntityAddress } from '../../../core/ids.ts';
import type { Notifier } from '../../../ports/notifier.ts';
import { World } from '../../../simulator/models/world.ts';
import { RandomStream } from '../../../simulator/random.ts';
import type { Script } from '../../../simulator/script.ts';
import { openStore } from '../../../store/open-store.ts';
import { carrierActivities } from '../../../temporal/carrier.ts';
import { Post } from '../../../temporal/post.ts';
import { startWorkers } from '../../../temporal/worker.ts';
import type { StepRecord } from '../../../workflows/entity.ts';
import { requestUpdate } from '../../../workflows/letter.ts';
import { HeldTries } from './held-tries.ts';
import { LettersUnderWay } from './letters-under-way.ts';
import { modelActivities } from './model-activities.ts';
import type { Note } from './observer-sinks.ts';
import { observedBundle } from './observed-bundle.ts';
import { observedTombstones, projectedTo } from './seen-store.ts';
import { ServerClock } from './server-clock.ts';
import { sinksOf } from './sinks-of.ts';
import { startSkippingServer } from './skipping-server.ts';
import { TemporalPort } from './temporal-port.ts';
import { Unrest } from './unrest.ts';
import { LOOK_EVERY_MS, SETTLE_MAX_MS, until, untilNoneRuns } from './until.ts';

const QUEUE = 'conformance';
/** A shorter way is gone in real time: a leap takes as long. */
const LEAP_MIN_MS = 60;

export interface TemporalStage {
  readonly world: World;
  /** What a person asks for. */
  request(to: EntityAddress, event: MachineEvent): void;
  readonly port: TemporalPort;
  readonly unrest: Unrest;
  /** The instant at which the script begins, epoch milliseconds. */
  readonly startAt: number;
  /** Real time since then in which the server's clock went on by itself. */
  readonly passedMs: number;
  /** Resolves once nothing is under way and the model has nothing left to do now. */
  settle(): Promise<void>;
  /** Lets time leap to an instant; every command is looked at again there. */
  leapTo(at: number): Promise<void>;
  close(): Promise<void>;
}

export async function openTemporalStage(
  script: Script,
  eventsMax: number,
  onStep: (step: StepRecord) => void,
): Promise<TemporalStage> {
  const parts = await wire(script, eventsMax, onStep);
  await warmUp(parts.client);
  const startAt = parts.clock.now();
  return stageOf(parts, startAt, parts.clock.passedMs);
}

type Parts = Awaited<ReturnType<typeof wire>>;

async function wire(script: Script, eventsMax: number, onStep: (step: StepRecord) => void) {
  const bundlePath = await observedBundle();
  const server = await startSkippingServer();
  const { env } = server;
  const problems: unknown[] = [];
  const clock = await ServerClock.of(env);
  const port = new TemporalPort(clock.now(), (problem) => problems.push(problem));
  const { models, policy } = script;
  const world = new World(port, { models, policy, random: new RandomStream(script.seed) });
  port.world = world;
  const store = await openStore({ kind: 'sqlite', path: ':memory:' });
  const engineStore = projectedTo(world, store.engine);
  const tries = new HeldTries();
  const unrest = new Unrest(tries);
  const letters = new LettersUnderWay((id) => unrest.isOpen(id));
  const take = taking({ onStep, port, tries });
  const client = new WorkflowClient({ connection: env.connection, interceptors: [letters.interceptor] });
  const buried = observedTombstones(engineStore, clock, take);
  const post = new Post({ client, queue: QUEUE, eventsMax, tombstones: buried, clock });
  port.notifier = post.notices;
  const pace = { now: () => clock.now(), nextAt: clock.now() };
  const workers = await startWorkers({
    connection: env.nativeConnection,
    namespace: 'default',
    queue: QUEUE,
    bundlePath,
    activities: carrierActivities({
      store: engineStore,
      send: (letter) => post.send(letter),
      activities: modelActivities(tries, pace),
      clock,
    }),
    extra: {
      sinks: sinksOf((...heard) => hear({ unrest, tries, client }, ...heard), take),
      shutdownGraceTime: 1,
      shutdownForceTime: 1_000,
    },
  });
  return { server, problems, clock, port, world, store, tries, unrest, letters, client, post, pace, workers };
}

/** Commands of a step reach the model's port as they are ordered and cancelled. */
function taking({ onStep, port, tries }: Pick<Parts, 'port' | 'tries'> & OnStep): (step: StepRecord) => void {
  return (step) => {
    onStep(step);
    for (const command of step.commands) {
      if (isActivityCommand(command)) port.order(command);
      else if (command.type === 'cancelCommand') {
        port.cancel(command.commandId);
        tries.cancel(command.commandId);
      }
    }
  };
}

interface OnStep {
  readonly onStep: (step: StepRecord) => void;
}

async function hear(
  { unrest, tries, client }: Pick<Parts, 'unrest' | 'tries' | 'client'>,
  workflowId: string,
  runId: string,
  note: Note,
): Promise<void> {
  unrest.hear(workflowId, runId, note);
  // This server's clock stands still for ever for a try that outlives its run; the worker waits for the sink.
  if (note.end !== 'continued') return;
  await until(() => note.longs.every((id) => tries.isHeldBy(id, runId)));
  if (tries.sendAwayOf(runId)) await untilNoneRuns(client, workflowId);
}

function stageOf(parts: Parts, startAt: number, passedBeforeMs: number): TemporalStage {
  const { world, port, unrest, clock, post, problems, tries, pace, workers, server, store } = parts;
  const requests = { count: 0 };
  return {
    world,
    port,
    unrest,
    startAt,
    get passedMs() {
      return clock.passedMs - passedBeforeMs;
    },
    request(to, event) {
      requests.count += 1;
      post.requests
        .deliver({ to, event } as Parameters<Notifier['deliver']>[0])
        .catch((problem: unknown) => problems.push(problem))
        .finally(() => void (requests.count -= 1));
    },
    async settle() {
      for (;;) {
        await rest(parts, requests);
        if (port.beginOrdered()) continue;
        const answer = port.takeAnswer();
        if (answer !== null) tries.end(answer.commandId, answer.event);
        else if (!port.fire() && !tries.sendOutOfBatches()) return;
      }
    },
    async leapTo(at) {
      port.moveTo(at);
      const waitMs = at - clock.now();
      if (waitMs <= LEAP_MIN_MS) return await clock.pass(waitMs);
      pace.nextAt = at;
      tries.sendAllAway();
      await clock.leapTo(at);
    },
    async close() {
      tries.sendAllAway();
      await workers.stop().catch((problem: unknown) => problems.push(problem));
      await server.stop();
      await store.close();
      throwFirst(problems);
    },
  };
}

async function rest(parts: Parts, requests: { readonly count: number }): Promise<void> {
  const { unrest, letters, clock, problems } = parts;
  const until = performance.now() + SETTLE_MAX_MS;
  for (;;) {
    throwFirst(problems);
    const found = underWay(parts, requests) ?? unrest.find(letters, clock.now());
    if (found === null) return;
    if (performance.now() > until) throw new Error(`Cannot settle: ${found}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

function underWay({ port, tries }: Parts, requests: { readonly count: number }): string | null {
  if (port.deliveries > 0) return 'something is being delivered';
  // The answer to a request comes with the end of a task, which a local batch holds.
  return requests.count > 0 && !tries.areInBatches ? 'a request waits for its answer' : null;
}

/** What happens at the beginning of a script happens at once, as everything after it. */
async function warmUp(client: WorkflowClient): Promise<void> {
  const workflowId = 'warm-up';
  const startWorkflowOperation = new WithStartWorkflowOperation('warmUp', {
    workflowId,
    taskQueue: QUEUE,
    workflowIdConflictPolicy: 'FAIL',
  });
  const letter = { id: workflowId, event: { type: 'deadline' } } as const;
  await client.executeUpdateWithStart(requestUpdate, { args: [letter], startWorkflowOperation });
  await client.getHandle(workflowId).result();
}

function throwFirst(problems: readonly unknown[]): void {
  if (problems.length > 0)
    throw new Error(`Cannot play the script: ${String(problems[0])}`, { cause: problems[0] });
}
