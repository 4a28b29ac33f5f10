/**
 * API keys of the caller, and the audit log for administrators.
 * Owns the routes; a key is shown once, when it is made.
 */
import { z } from 'zod';
import { userId as asUserId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { ApiKey } from '../../ports/api-keys.ts';
import { pageFrom } from '../application/cursor.ts';
import { route } from '../application/route.ts';
import { instantIn, instantOut, isoInstant, limitIn, pageOf, parseInstant } from '../application/wire.ts';
import { keyScope } from '../application/words.ts';
import { issueKey } from './issue-key.ts';

const userIdIn = z.string().regex(/^[\x21-\x7e]{1,128}$/);

const keySchema = z
  .object({
    id: z.int(),
    name: z.string().nullable(),
    scope: keyScope,
    user_id: z.string(),
    created_at: instantOut,
    last_used_at: instantOut.nullable(),
    not_before: instantOut.nullable(),
    expires_at: instantOut.nullable(),
  })
  .meta({ id: 'ApiKey' });

const auditSchema = z
  .object({
    id: z.int(),
    at: instantOut,
    user_id: z.string().nullable(),
    key_id: z.int().nullable(),
    action: z.string(),
    about: z.string(),
    status: z.int(),
  })
  .meta({ id: 'AuditEntry' });

export const KEY_ROUTES = [
  route({
    method: 'GET',
    url: '/api/keys',
    operation: 'list_keys',
    summary: "The caller's keys, without their text; those of another user take an administrator.",
    access: 'key',
    query: z.object({ user_id: userIdIn.optional() }),
    result: z.array(keySchema),
    errors: ['forbidden'],
    handler: async ({ application, caller, query }) => {
      const userId = asUserId(query.user_id ?? caller.userId);
      if (caller.scope !== 'admin' && userId !== caller.userId)
        throw new ParleyError('forbidden', 'Cannot list the keys: it takes a key of the scope "admin"');
      return (await application.apiKeys.list(userId)).map(recordOf);
    },
  }),
  route({
    method: 'POST',
    url: '/api/keys',
    operation: 'issue_key',
    summary: 'Makes a key and shows it once; another user or the scope `admin` takes an administrator.',
    access: 'key',
    body: z.object({
      name: z.string().max(200).nullish(),
      scope: keyScope.default('user'),
      user_id: userIdIn.nullish(),
      not_before: instantIn.nullish(),
      expires_at: instantIn.nullish(),
    }),
    result: keySchema.extend({ key: z.string() }),
    leadsTo: { key_id: '$response.body#/id' },
    errors: ['forbidden', 'count_limit_reached'],
    handler: async ({ application, caller, body }) => {
      const userId = asUserId(body.user_id ?? caller.userId);
      if (caller.scope !== 'admin' && (body.scope === 'admin' || userId !== caller.userId))
        throw new ParleyError('forbidden', 'Cannot issue the key: it takes a key of the scope "admin"');
      const { key, record } = await issueKey(application.apiKeys, {
        userId,
        name: body.name ?? null,
        scope: body.scope,
        now: application.world.clock.now(),
        notBefore: instantOf(body.not_before),
        expiresAt: instantOf(body.expires_at),
      });
      return { ...recordOf(record), key };
    },
  }),
  route({
    method: 'GET',
    url: '/api/keys/current',
    operation: 'get_current_key',
    summary: 'The key of this call.',
    access: 'keyInEither',
    result: z.object({
      id: z.int(),
      name: z.string().nullable(),
      user_id: z.string(),
      scope: keyScope,
      auth_type: z.literal('api_key'),
    }),
    handler: ({ caller }) =>
      Promise.resolve({
        id: caller.keyId,
        name: caller.keyName,
        user_id: caller.userId,
        scope: caller.scope,
        auth_type: 'api_key' as const,
      }),
  }),
  route({
    method: 'DELETE',
    url: '/api/keys/:key_id',
    operation: 'revoke_key',
    summary: 'Revokes a key of the caller at once; an administrator may revoke any.',
    access: 'key',
    params: z.object({ key_id: z.coerce.number().int().min(1) }),
    result: z.object({ message: z.string() }),
    errors: ['not_found'],
    handler: async ({ application, caller, params }) => {
      const owner = caller.scope === 'admin' ? null : caller.userId;
      if (await application.apiKeys.remove(owner, params.key_id)) return { message: 'Key revoked' };
      throw new ParleyError('not_found', 'Key not found');
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/audit/search',
    operation: 'search_audit',
    summary: 'Who changed what, newest first, by who, what, about what, when and outcome.',
    access: 'admin',
    query: z.object({
      user_id: z.string().max(128).optional(),
      action: z.string().max(100).optional().meta({ description: 'Name of the operation.' }),
      about__contains: z.string().max(200).optional(),
      at__gte: instantIn.optional(),
      at__lt: instantIn.optional(),
      outcome: z.enum(['done', 'refused']).optional().meta({ description: 'Below 400, or from there on.' }),
      page_id: z
        .string()
        .regex(/^\d{1,15}$/)
        .optional(),
      limit: limitIn,
    }),
    result: pageOf(auditSchema),
    handler: async ({ application, query }) => {
      const before = query.page_id === undefined ? null : Number(query.page_id);
      const filter = {
        ...(query.user_id === undefined ? {} : { userId: query.user_id }),
        ...(query.action === undefined ? {} : { action: query.action }),
        ...(query.about__contains === undefined ? {} : { aboutContains: query.about__contains }),
        ...(query.at__gte === undefined ? {} : { from: parseInstant(query.at__gte) }),
        ...(query.at__lt === undefined ? {} : { until: parseInstant(query.at__lt) }),
        ...(query.outcome === undefined ? {} : { outcome: query.outcome }),
      };
      const found = await application.audit.entries({ before, limit: query.limit + 1, filter });
      const { rows, nextPageId } = pageFrom(found, query.limit, ({ position }) => String(position));
      return {
        items: rows.map(({ position, at, userId, keyId, ...rest }) => ({
          ...{ ...rest, id: position, at: isoInstant(at), user_id: userId, key_id: keyId },
        })),
        next_page_id: nextPageId,
      };
    },
  }),
] as const;

function instantOf(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : parseInstant(text);
}

function recordOf(key: ApiKey): z.output<typeof keySchema> {
  const shown = (at: number | null): string | null => (at === null ? null : isoInstant(at));
  return {
    id: key.keyId,
    name: key.name,
    scope: key.scope,
    user_id: key.userId,
    created_at: isoInstant(key.createdAt),
    last_used_at: shown(key.lastUsedAt),
    not_before: shown(key.notBefore),
    expires_at: shown(key.expiresAt),
  };
}
