/**
 * How a second process of the same data directory calls the engine that owns it.
 * Owns a unix socket of mode 0600 and its routes; the file's mode is the authority, so every caller on it has the
 * rights of the owner, and what it sends is taken as if the owner had read it.
 */
import { chmod, rm } from 'node:fs/promises';
import Fastify from 'fastify';
import { z } from 'zod';
import { runId, type RunId } from '../core/ids.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { RunEvent } from '../core/run/message.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { Notifier } from '../ports/notifier.ts';
import { failureClass } from './application/words.ts';
import { answerErrors } from './error-answer.ts';

/** A name for people; no code shortens a longer one, so it is refused. */
const BY_LENGTH_MAX = 200;
/** As many as a plan holds items. */
const KEYS_MAX = 10_000;
const CONCURRENCY_MAX = 10_000;

/** Ids of requests are keys of rows. */
const REQUEST_ID_MAX = 255;
const asked = {
  requestId: z.string().min(1).max(REQUEST_ID_MAX),
  by: z.string().max(BY_LENGTH_MAX).optional(),
};
const keys = z.array(z.string()).min(1).max(KEYS_MAX);
const settings = z.strictObject({
  concurrency: z.number().int().min(1).max(CONCURRENCY_MAX).optional(),
  startEveryMs: z.number().int().min(1).nullable().optional(),
  budgetNanoUsd: z.number().int().min(1).optional(),
});

/** What may be requested of a run from outside; the event's `requestId` makes a repeat harmless. */
export const controlRequestSchema = z.strictObject({
  runId: z.string(),
  event: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('cancelRequested'), ...asked, keys: keys.optional() }),
    z.strictObject({ type: z.literal('drainRequested'), ...asked }),
    z.strictObject({ type: z.literal('holdRequested'), ...asked }),
    z.strictObject({
      type: z.literal('resumeRequested'),
      ...asked,
      classes: z.array(failureClass),
    }),
    z.strictObject({ type: z.literal('requeueRequested'), ...asked, keys }),
    z.strictObject({ type: z.literal('settingsChanged'), ...asked, settings }),
  ]),
});
export type ControlRequest = z.infer<typeof controlRequestSchema>;

/** Another plan for a run that goes on, as the process that compiled it has compared the two. */
const amendmentSchema = z.object({
  runId: z.string(),
  event: z.looseObject({ type: z.literal('planAmended'), requestId: z.string() }),
  amended: z.looseObject({ hash: z.string() }),
});

const startSchema = z.object({
  runId: z.string(),
  plan: z.looseObject({ format: z.literal(1), hash: z.string(), items: z.array(z.unknown()) }),
  secrets: z.record(z.string(), z.string()),
});

const WORK = ['collect', 'report', 'reconcile'] as const;
export type OwnerTask = (typeof WORK)[number];
const workSchema = z.object({ runId: z.string(), task: z.enum(WORK), request: z.looseObject({}).optional() });

/** A plan of 100,000 items with long prompts; more is a mistake of the caller. */
const PLAN_BYTES_MAX = 512 * 1024 * 1024;

/** Where an owner's things are, for other processes. */
export interface OwnerFacts {
  readonly pid: number;
  readonly engine: 'embedded' | 'temporal';
  /** Absolute path below which the owner writes results. */
  readonly resultsDir: string;
}

/** What the owner of a data directory does for other processes of it. */
export interface OwnerDesk {
  readonly facts: OwnerFacts;
  readonly requests: Notifier;
  startRun(id: RunId, plan: Plan, secrets: Readonly<Record<string, string>>): Promise<void>;
  amendRun(
    id: RunId,
    event: Extract<RunEvent, { readonly type: 'planAmended' }>,
    amended: Plan,
  ): Promise<void>;
  /** Path of a socket with the application API and the rights of the owner; opened at the first request for it. */
  localApi(): Promise<string>;
  /** Its answer is passed on as it is. */
  work(id: RunId, task: OwnerTask, request: object): Promise<unknown>;
}

export interface ControlServer {
  close(): Promise<void>;
}

/** Listens on a socket of the data directory, for commands beside the owner of it. */
export async function startControlServer(desk: OwnerDesk, socketPath: string): Promise<ControlServer> {
  const app = Fastify({ logger: false, forceCloseConnections: true, bodyLimit: PLAN_BYTES_MAX });
  answerErrors(app);
  app.post('/control', async ({ body }) => {
    const { runId: id, event } = parsed(controlRequestSchema, body);
    await desk.requests.deliver({ to: { machine: 'run', id: runId(id) }, event });
    return { accepted: true };
  });
  app.get('/owner', () => Promise.resolve(desk.facts));
  // Never completed: the operating system closes the connection as soon as the owner ends.
  app.get('/presence', (_request, reply) => {
    reply.hijack().raw.writeHead(200).flushHeaders();
  });
  app.post('/runs', async ({ body }) => {
    const { runId: id, plan, secrets } = parsed(startSchema, body);
    await desk.startRun(runId(id), plan as unknown as Plan, secrets);
    return { accepted: true };
  });
  app.post('/amendments', async ({ body }) => {
    const { runId: id, event, amended } = parsed(amendmentSchema, body);
    await desk.amendRun(runId(id), event as never, amended as unknown as Plan);
    return { accepted: true };
  });
  app.post('/application', async () => ({ socketPath: await desk.localApi() }));
  app.post('/work', async ({ body }) => {
    const { runId: id, task, request = {} } = parsed(workSchema, body);
    return { answer: await desk.work(runId(id), task, request) };
  });
  await rm(socketPath, { force: true });
  await app.listen({ path: socketPath });
  await chmod(socketPath, 0o600);
  return { close: () => app.close() };
}

/** @throws ParleyError invalid_request */
function parsed<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  throw new ParleyError('invalid_request', z.prettifyError(read.error));
}
