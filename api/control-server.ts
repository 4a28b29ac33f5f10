/**
 * How a second process of the same data directory speaks to the engine that owns it.
 * Owns a unix socket of mode 0600 with one route; the file's mode is the authority.
 */
import { chmod, rm } from 'node:fs/promises';
import Fastify from 'fastify';
import { z } from 'zod';
import { runId } from '../core/ids.ts';
import { FAILURE_CLASSES } from '../core/status.ts';
import type { Notifier } from '../ports/notifier.ts';
import { answerErrors } from './error-answer.ts';

/** A name for people; longer ones are cut by nobody, so they are refused. */
const BY_LENGTH_MAX = 200;
/** As many as a plan holds items. */
const KEYS_MAX = 10_000;
const CONCURRENCY_MAX = 10_000;

const asked = { requestId: z.string(), by: z.string().max(BY_LENGTH_MAX).optional() };
const keys = z.array(z.string()).min(1).max(KEYS_MAX);
const settings = z.strictObject({
  concurrency: z.number().int().min(1).max(CONCURRENCY_MAX).optional(),
  startEveryMs: z.number().int().min(1).nullable().optional(),
  budgetNanoUsd: z.number().int().min(1).optional(),
});

/** What may be asked of a run from outside; the event's `requestId` makes a repeat harmless. */
export const controlRequestSchema = z.strictObject({
  runId: z.string(),
  event: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('cancelRequested'), ...asked, keys: keys.optional() }),
    z.strictObject({ type: z.literal('drainRequested'), ...asked }),
    z.strictObject({ type: z.literal('holdRequested'), ...asked }),
    z.strictObject({
      type: z.literal('resumeRequested'),
      ...asked,
      classes: z.array(z.enum(FAILURE_CLASSES)),
    }),
    z.strictObject({ type: z.literal('requeueRequested'), ...asked, keys }),
    z.strictObject({ type: z.literal('settingsChanged'), ...asked, settings }),
  ]),
});
export type ControlRequest = z.infer<typeof controlRequestSchema>;

export interface ControlServer {
  close(): Promise<void>;
}

export async function startControlServer(notifier: Notifier, socketPath: string): Promise<ControlServer> {
  const app = Fastify({ logger: false });
  answerErrors(app);
  app.post('/control', async (request, reply) => {
    const parsed = controlRequestSchema.safeParse(request.body);
    if (!parsed.success)
      return reply.code(422).send({ detail: z.prettifyError(parsed.error), code: 'invalid_request' });
    await notifier.deliver({
      to: { machine: 'run', id: runId(parsed.data.runId) },
      event: parsed.data.event,
    });
    return { accepted: true };
  });
  await rm(socketPath, { force: true });
  await app.listen({ path: socketPath });
  await chmod(socketPath, 0o600);
  return { close: () => app.close() };
}
