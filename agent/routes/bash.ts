/**
 * Commands in a fresh shell, for setup and verification by the server above.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { runBash } from '../bash.ts';
import { HttpError } from '../http-error.ts';
import { hexOf } from '../ids.ts';
import { BASH_TIMEOUT_S_DEFAULT, BASH_TIMEOUT_S_MAX } from '../limits.ts';
import { messageOf } from '../log.ts';
import type { ServerContext } from '../server-context.ts';
import { zonedTimestamp } from '../timestamp.ts';
import { parsePart } from '../wire-schema.ts';

const bodySchema = z.object({
  command: z
    .string()
    .refine((text) => !text.includes('\0'), { message: 'A command cannot hold a NUL character' }),
  cwd: z.string().regex(/^\//, 'Path must be absolute').nullish(),
  timeout: z.number().positive().max(BASH_TIMEOUT_S_MAX).default(BASH_TIMEOUT_S_DEFAULT),
});

export function addBashRoutes(server: FastifyInstance, context: ServerContext): void {
  const { activity, config, vault, world } = context;
  server.post('/api/bash/execute_bash_command', async (request) => {
    const body = parsePart(bodySchema, request.body, 'body');
    const cwd = body.cwd ?? config.workspaceDir;
    const run = { command: body.command, cwd, timeoutMs: body.timeout * 1000, signal: context.stopping };
    const outcome = await activity
      .during(() => runBash(run))
      .catch((error: unknown) => {
        throw new HttpError(400, `Cannot run command in "${cwd}": ${messageOf(error)}`);
      });
    return {
      id: hexOf(world.uuid()),
      timestamp: zonedTimestamp(world.nowMs()),
      command_id: hexOf(world.uuid()),
      order: 0,
      exit_code: outcome.exitCode,
      stdout: vault.deep(outcome.stdout),
      stderr: vault.deep(outcome.stderr),
      kind: 'BashOutput',
    };
  });
}
