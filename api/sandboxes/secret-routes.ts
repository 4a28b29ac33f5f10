/**
 * What a sandbox may ask for itself: its user's stored secrets, and which kinds of sandbox there are.
 * Owns the routes; only the session key of that sandbox's present generation opens the first two (D5, D14).
 */
import { z } from 'zod';
import { ParleyError } from '../../core/parley-error.ts';
import { route } from '../application/route.ts';
import {
  instantOut,
  isoInstant,
  limitIn,
  pageIdIn,
  pageOf,
  repeated,
  sandboxParams,
} from '../application/wire.ts';
import type { Application } from '../application/application.ts';
import { listSecrets, secretValue } from '../settings/stored-secrets.ts';
import { specIdOf } from './sandbox-record.ts';

const specSchema = z
  .object({
    id: z.string(),
    command: z.array(z.string()).nullable(),
    created_at: instantOut,
    initial_env: z.record(z.string(), z.string()),
    working_dir: z.string(),
    isolation: z.string(),
  })
  .meta({ id: 'SandboxSpec' });

export const SANDBOX_SECRET_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/sandboxes/:sandbox_id/settings/secrets',
    operation: 'list_sandbox_secrets',
    summary: "Names of the user's stored secrets.",
    access: 'session',
    params: sandboxParams,
    result: z.object({
      secrets: z.array(z.object({ name: z.string(), description: z.string().nullable() })),
    }),
    handler: async ({ application, caller }) => ({
      secrets: (await listSecrets(application, caller.userId)).map(({ name, description }) => ({
        name,
        description,
      })),
    }),
  }),
  route({
    method: 'GET',
    url: '/api/v1/sandboxes/:sandbox_id/settings/secrets/:name',
    operation: 'get_sandbox_secret',
    summary: 'The value of one stored secret, as text.',
    access: 'session',
    params: sandboxParams.extend({ name: z.string().max(256) }),
    result: 'text/plain',
    errors: ['not_found'],
    handler: async ({ application, caller, params, reply }) => {
      const value = await secretValue(application, caller.userId, params.name);
      if (value === null) throw new ParleyError('not_found', 'Secret not found');
      await reply.type('text/plain; charset=utf-8').send(value);
      return null;
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/sandbox-specs/search',
    operation: 'search_sandbox_specs',
    summary: 'Kinds of sandbox that can be created.',
    access: 'key',
    query: z.object({ page_id: pageIdIn, limit: limitIn }),
    result: pageOf(specSchema),
    handler: ({ application }) => Promise.resolve({ items: [specOf(application)], next_page_id: null }),
  }),
  route({
    method: 'GET',
    url: '/api/v1/sandbox-specs',
    operation: 'get_sandbox_specs',
    summary: 'Kinds of sandbox by id, null for each that does not exist.',
    access: 'key',
    query: z.object({ id: repeated(z.string().max(200), 100) }),
    result: z.array(specSchema.nullable()),
    handler: ({ application, query }) =>
      Promise.resolve(query.id.map((id) => (id === specIdOf(application) ? specOf(application) : null))),
  }),
] as const;

function specOf(application: Application): z.output<typeof specSchema> {
  return {
    id: specIdOf(application),
    command: null,
    created_at: isoInstant(0),
    initial_env: {},
    working_dir: '/workspace',
    isolation: application.world.runtime.capabilities.isolation,
  };
}
