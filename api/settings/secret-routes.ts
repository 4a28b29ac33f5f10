/**
 * A user's stored secrets: names out, values in.
 * Owns the routes; no route answers a value to a user (D20).
 */
import { z } from 'zod';
import { requirePermitted } from '../../activities/secret-rules.ts';
import { SECRET_BYTES_MAX, SECRETS_MAX } from '../../core/limits.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { listPage } from '../application/cursor.ts';
import { route } from '../application/route.ts';
import { limitIn, pageIdIn, pageOf } from '../application/wire.ts';
import {
  requireNoAddress,
  secretNameIn,
  describeSecret,
  listSecrets,
  putSecret,
  removeSecret,
} from './stored-secrets.ts';

const NAME_CHARS_MAX = 256;
const params = z.object({ secret_id: z.string().min(1).max(NAME_CHARS_MAX) });
const descriptionIn = z.string().max(1_000).nullish();
const messageSchema = z.object({ message: z.string() }).meta({ id: 'Message' });
const secretSchema = z
  .object({ name: z.string(), description: z.string().nullable() })
  .meta({ id: 'Secret' });

export const SECRET_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/secrets/search',
    operation: 'search_secrets',
    summary: 'Names and descriptions of the stored secrets.',
    access: 'key',
    query: z.object({
      name__contains: z.string().max(NAME_CHARS_MAX).optional(),
      page_id: pageIdIn,
      limit: limitIn,
    }),
    result: pageOf(secretSchema),
    handler: async ({ application, caller, query }) => {
      const wanted = (query.name__contains ?? '').toLowerCase();
      const all = await listSecrets(application, caller.userId);
      const found = all.filter(({ name }) => name.toLowerCase().includes(wanted));
      return listPage(found, query);
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/secrets',
    operation: 'store_secret',
    summary: 'Stores a secret for every conversation that starts from now on.',
    access: 'key',
    body: z.object({
      name: secretNameIn,
      value: z.string().meta({ maxLength: SECRET_BYTES_MAX }),
      description: descriptionIn,
    }),
    result: messageSchema,
    status: 201,
    leadsTo: { secret_id: '$request.body#/name' },
    errors: ['secret_reserved', 'count_limit_reached'],
    handler: async ({ application, caller, body: { name, value, description = null } }) => {
      requirePermitted({ [name]: value });
      requireNoAddress(name);
      const isStored = await putSecret(application, caller.userId, { name, value, description });
      if (isStored) return { message: 'Secret stored' };
      throw new ParleyError(
        'count_limit_reached',
        `Cannot store the secret: there are ${SECRETS_MAX} already`,
      );
    },
  }),
  route({
    method: 'PUT',
    url: '/api/v1/secrets/:secret_id',
    operation: 'describe_secret',
    summary: 'Changes the description; the value stays.',
    access: 'key',
    params,
    body: z.object({ description: descriptionIn }),
    result: messageSchema,
    errors: ['not_found'],
    handler: async ({ application, caller, params: { secret_id: name }, body: { description = null } }) => {
      if (await describeSecret(application, caller.userId, { name, description }))
        return { message: 'Secret updated' };
      throw new ParleyError('not_found', 'Secret not found');
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/secrets/:secret_id',
    operation: 'delete_secret',
    summary: 'Removes a stored secret; conversations that have it keep it.',
    access: 'key',
    params,
    result: messageSchema,
    errors: ['not_found'],
    handler: async ({ application, caller, params: { secret_id: name } }) => {
      if (await removeSecret(application, caller.userId, name)) return { message: 'Secret deleted' };
      throw new ParleyError('not_found', 'Secret not found');
    },
  }),
] as const;
