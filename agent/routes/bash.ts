/**
 * Commands in a fresh shell, for setup and verification by the server above: run to the end, or in the background.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { BashCommands, type BashEvent } from '../workspace/bash-commands.ts';
import { HttpError } from '../serve/http-error.ts';
import { hexOf, hyphenatedUuid } from '../ids.ts';
import { BASH_TIMEOUT_S_DEFAULT, BASH_TIMEOUT_S_MAX } from '../limits.ts';
import type { ServerContext } from '../serve/server-context.ts';
import { parseTimestampUs } from '../timestamp.ts';
import { parsePart } from '../serve/wire-schema.ts';
import { SUCCESS } from './find-conversation.ts';
import { limitSchema, pageOf, timeSchema } from './page.ts';

const bodySchema = z.object({
  command: z
    .string()
    .refine((text) => !text.includes('\0'), { message: 'A command cannot hold a NUL character' }),
  cwd: z.string().regex(/^\//, 'Path must be absolute').nullish(),
  timeout: z.number().positive().max(BASH_TIMEOUT_S_MAX).default(BASH_TIMEOUT_S_DEFAULT),
});

const idSchema = z.string().transform((text) => {
  const uuid = hyphenatedUuid(text);
  return uuid === null ? text : hexOf(uuid);
});

const searchSchema = z.object({
  page_id: z.string().optional(),
  limit: limitSchema,
  kind__eq: z.enum(['BashCommand', 'BashOutput']).optional(),
  command_id__eq: idSchema.optional(),
  order__gt: z.coerce.number().optional(),
  timestamp__gte: timeSchema.optional(),
  timestamp__lt: timeSchema.optional(),
  sort_order: z.enum(['TIMESTAMP', 'TIMESTAMP_DESC']).default('TIMESTAMP'),
});

export function addBashRoutes(server: FastifyInstance, context: ServerContext): void {
  const commands = new BashCommands(context);
  const start = (body: unknown): ReturnType<BashCommands['start']> => {
    const request = parsePart(bodySchema, body, 'body');
    return commands.start({ ...request, cwd: request.cwd ?? context.config.workspaceDir });
  };
  server.post('/api/bash/execute_bash_command', async (request) => await start(request.body).output);
  server.post('/api/bash/start_bash_command', (request) => {
    const { command, output } = start(request.body);
    // What went wrong stands in the command's row.
    output.catch(() => undefined);
    return command;
  });
  server.post('/api/bash/bash_commands/:id/stop', (request) => {
    if (!commands.stop(idOf(request.params))) throw new HttpError(404, 'Command not found');
    return SUCCESS;
  });
  server.get('/api/bash/bash_events/search', (request) => {
    const query = parsePart(searchSchema, request.query, 'query');
    return pageOf(matching(commands.events(), query), {
      pageId: query.page_id ?? null,
      limit: query.limit,
      idOf: (event) => event.id,
    });
  });
  server.get('/api/bash/bash_events/:id', (request) => {
    const id = idOf(request.params);
    const event = commands.events().find((each) => each.id === id);
    if (event === undefined) throw new HttpError(404, 'Not Found');
    return event;
  });
  server.delete('/api/bash/bash_events', () => ({ cleared_count: commands.clear() }));
}

function idOf(params: unknown): string {
  return parsePart(z.object({ id: idSchema }), params, 'path').id;
}

function matching(events: readonly BashEvent[], query: z.infer<typeof searchSchema>): readonly BashEvent[] {
  const { timestamp__gte: fromUs, timestamp__lt: beforeUs, order__gt: behind } = query;
  const found = events.filter((event) => {
    if (query.kind__eq !== undefined && event.kind !== query.kind__eq) return false;
    const commandId = event.kind === 'BashOutput' ? event.command_id : event.id;
    if (query.command_id__eq !== undefined && commandId !== query.command_id__eq) return false;
    if (behind !== undefined && (event.kind !== 'BashOutput' || event.order <= behind)) return false;
    const timeUs = parseTimestampUs(event.timestamp) ?? 0;
    return (fromUs === undefined || timeUs >= fromUs) && (beforeUs === undefined || timeUs < beforeUs);
  });
  return query.sort_order === 'TIMESTAMP' ? found : found.reverse();
}
