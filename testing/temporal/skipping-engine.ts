/**
 * The Temporal engine on a server that skips time: the product's workflows, workers, post and carrier, whose commands
 * are answered by the play that gives the orders.
 * Owns what at rest means and how time leaps; must not know a rule or a model.
 */
import { WithStartWorkflowOperation, type WorkflowClient } from '@temporalio/client';
import type { Notifier } from '../../ports/notifier.ts';
import { EVENTS_MAX_DEFAULT } from '../../workflows/events-max.ts';
import { requestUpdate } from '../../workflows/envelope.ts';
import type { EngineOrder, OrderedEngine, Rest } from './engine-order.ts';
import {
  endWorkflows,
  letGo,
  POLL_EVERY_MS,
  QUEUE,
  SETTLE_MAX_MS,
  wire,
  type EngineParts,
} from './engine-parts.ts';
import type { SkippingServer } from './skipping-server.ts';
import type { WarmServers } from './warm-servers.ts';

/** A shorter way is gone in real time: a leap takes as long. */
const LEAP_MIN_MS = 60;

export interface SkippingEngineOptions {
  /** The server's program, which takes a port. */
  readonly testServer: string;
  /** Where a server comes from, and where it goes when it is as good as before. */
  readonly servers: WarmServers;
  /** The product's, where a play is not about it. */
  readonly eventsMax?: number;
  /** Called as soon as there is a server, so that it can be ended whatever becomes of the engine. */
  readonly onServer?: (pid: number) => void;
}

type Delivery = Parameters<Notifier['deliver']>[0];

/** A fresh server may give up on its first request when the machine is busy; one that took it plays. */
const OPENED_MAX = 3;

/** A server with everything around it, warmed up. */
export async function openSkippingEngine(options: SkippingEngineOptions): Promise<OrderedEngine> {
  const { servers, testServer, eventsMax = EVENTS_MAX_DEFAULT } = options;
  for (let tried = 1; ; tried += 1) {
    const server = await servers.take(testServer);
    options.onServer?.(server.pid);
    const parts = await wire(server, eventsMax);
    try {
      await warmUp(parts.client);
      return engineOn(server, parts, servers);
    } catch (error) {
      await letGo(parts);
      await server.stop();
      if (tried >= OPENED_MAX) throw error;
    }
  }
}

function engineOn(server: SkippingServer, parts: EngineParts, servers: WarmServers): OrderedEngine {
  const startAt = parts.clock.now();
  parts.told.passedBeforeMs = parts.clock.passedMs;
  const requests = { count: 0 };
  let isAtRest = true;
  return {
    startAt,
    async perform(orders) {
      isAtRest = false;
      for (const order of orders) await perform(parts, requests, order);
      await rest(parts, requests);
      isAtRest = true;
      return atRest(parts);
    },
    async close() {
      // What was given up in the middle may go on whatever is done.
      const isOver = isAtRest && (await endWorkflows(parts));
      await letGo(parts);
      if (isOver) servers.giveBack(server);
      else if (isAtRest) await server.stop();
      else server.abandon();
      throwFirst(parts.problems);
    },
  };
}

async function perform(parts: EngineParts, requests: { count: number }, order: EngineOrder): Promise<void> {
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

/** Every command is checked again where the leap ends. */
async function leapTo({ clock, pace, tries }: EngineParts, at: number): Promise<void> {
  const waitMs = at - clock.now();
  if (waitMs <= LEAP_MIN_MS) return await clock.pass(waitMs);
  pace.nextAt = at;
  tries.sendAllAway();
  await clock.leapTo(at);
}

async function rest(parts: EngineParts, requests: { readonly count: number }): Promise<void> {
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

function underWay({ notices, tries }: EngineParts, requests: { readonly count: number }): string | null {
  if (notices.waiting > 0) return 'something is being delivered';
  // The answer to a request comes with the end of a task, which a local batch holds.
  return requests.count > 0 && !tries.areInBatches ? 'a request waits for its answer' : null;
}

function atRest({ told, unrest, tries }: EngineParts): Rest {
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
