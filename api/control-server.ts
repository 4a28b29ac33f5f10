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

/** What may be asked of a run from outside; the event's `requestId` makes a repeat harmless. */
export const controlRequestSchema = z.strictObject({
  runId: z.string(),
  event: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('cancelRequested'), requestId: z.string() }),
    z.strictObject({ type: z.literal('drainRequested'), requestId: z.string() }),
    z.strictObject({
      type: z.literal('resumeRequested'),
      requestId: z.string(),
      classes: z.array(z.enum(FAILURE_CLASSES)),
    }),
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
