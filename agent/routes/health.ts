/**
 * Routes that need no key: whether the server is up, and what it is.
 */
import type { FastifyInstance } from 'fastify';

import type { ServerContext } from '../serve/server-context.ts';
import { TOOL_NAMES } from '../tools/tool-set.ts';

const VERSION = '0.1.0';

/** Routes of this file, which the key check leaves alone. */
export const OPEN_PATHS: ReadonlySet<string> = new Set(['/', '/alive', '/health', '/ready', '/server_info']);

export function addHealthRoutes(server: FastifyInstance, context: ServerContext): void {
  server.get('/alive', () => ({ status: 'ok' }));
  server.get('/health', () => ({ status: 'ok' }));
  server.get('/ready', () => ({ status: 'ready' }));
  server.get('/server_info', () => serverInfo(context));
  server.get('/', () => serverInfo(context));
}

function serverInfo({ activity }: ServerContext): Record<string, unknown> {
  return {
    uptime: activity.uptimeSeconds(),
    idle_time: activity.idleSeconds(),
    title: 'Parley Agent Server',
    version: VERSION,
    usable_tools: TOOL_NAMES,
    capabilities: ['idempotent_conversation_create_v1', 'idempotent_messages_v1', 'git_patch_v1'],
  };
}
