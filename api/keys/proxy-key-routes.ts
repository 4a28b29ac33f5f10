/**
 * Virtual keys of the model proxy, with what each has spent: seen, blocked and removed by administrators.
 * Owns the routes; a key is made by the proxy alone (`POST /key/generate`), and its text is in no answer here.
 */
import { z } from 'zod';
import { budgetWindow } from '../../core/money/budget-window.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { ProxyKeyRecord } from '../../ports/proxy-keys.ts';
import type { Application } from '../application/application.ts';
import { pageFrom } from '../application/cursor.ts';
import { route } from '../application/route.ts';
import { instantOut, isoInstant, limitIn, pageIdIn, pageOf } from '../application/wire.ts';
import { nanoUsd } from '../runs/run-record.ts';

const proxyKeySchema = z
  .object({
    id: z.string().meta({ description: 'SHA-256 of the key.' }),
    name: z.string(),
    tail: z.string().meta({ description: 'Its last characters.' }),
    created_at: instantOut,
    expires_at: instantOut.nullable(),
    team: z.string().nullable(),
    user_id: z.string().nullable(),
    models: z.array(z.string()).nullable().meta({ description: 'Null for all.' }),
    requests_per_minute: z.int().nullable(),
    tokens_per_minute: z.int().nullable(),
    parallel_max: z.int().nullable(),
    budget_nano_usd: nanoUsd.nullable(),
    spent_nano_usd: nanoUsd.meta({ description: 'Since `window_from`.' }),
    window_from: instantOut.meta({
      description: 'Where the present window of its budget began, or the key.',
    }),
    tags: z.array(z.string()),
    blocked: z.boolean(),
  })
  .meta({ id: 'ProxyKey' });

const params = z.object({ proxy_key_id: z.string().regex(/^[0-9a-f]{64}$/, 'Input should be a SHA-256') });

export const PROXY_KEY_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/proxy-keys/search',
    operation: 'search_proxy_keys',
    summary: 'Virtual keys of the proxy by name, with what each has spent of its budget.',
    access: 'admin',
    query: z.object({ name__contains: z.string().max(128).optional(), page_id: pageIdIn, limit: limitIn }),
    result: pageOf(proxyKeySchema),
    leadsTo: { proxy_key_id: '$response.body#/items/0/id' },
    handler: async ({ application, query: { name__contains: part = '', page_id: after, limit } }) => {
      const page = { afterName: nameIn(after), nameContains: part, limit: limit + 1 };
      const found = await application.proxyKeys.page(page);
      const { rows, nextPageId } = pageFrom(found, limit, ({ name }) =>
        Buffer.from(name, 'utf8').toString('base64url'),
      );
      const items = await Promise.all(rows.map((record) => recordOf(application, record)));
      return { items, next_page_id: nextPageId };
    },
  }),
  route({
    method: 'PATCH',
    url: '/api/v1/proxy-keys/:proxy_key_id',
    operation: 'update_proxy_key',
    summary: 'Blocks a virtual key or lets it call again; the proxy goes by it within 30 seconds.',
    access: 'admin',
    params,
    body: z.object({ blocked: z.boolean() }),
    result: proxyKeySchema,
    errors: ['not_found'],
    handler: async ({ application, params: { proxy_key_id: hash }, body }) => {
      const changed = { ...(await findKey(application, hash)), isBlocked: body.blocked };
      await application.proxyKeys.put(changed);
      return await recordOf(application, changed);
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/proxy-keys/:proxy_key_id',
    operation: 'delete_proxy_key',
    summary: 'Removes a virtual key; its spend rows stay, and the proxy refuses it within 30 seconds.',
    access: 'admin',
    params,
    result: z.object({ message: z.string() }),
    errors: ['not_found'],
    handler: async ({ application, params: { proxy_key_id: hash } }) => {
      await findKey(application, hash);
      await application.proxyKeys.remove(hash);
      return { message: 'Key removed' };
    },
  }),
] as const;

/** @throws ParleyError not_found */
async function findKey({ proxyKeys }: Application, hash: string): Promise<ProxyKeyRecord> {
  const record = await proxyKeys.find(hash);
  if (record === null) throw new ParleyError('not_found', 'Key not found');
  return record;
}

function nameIn(pageId: string | undefined): string | null {
  return pageId === undefined ? null : Buffer.from(pageId, 'base64url').toString('utf8');
}

async function recordOf(
  { accounts, world }: Application,
  key: ProxyKeyRecord,
): Promise<z.output<typeof proxyKeySchema>> {
  const windowFrom = budgetWindow(key, world.clock.now());
  return {
    id: key.hash,
    name: key.name,
    tail: key.tail,
    created_at: isoInstant(key.createdAt),
    expires_at: key.expiresAt === null ? null : isoInstant(key.expiresAt),
    team: key.team,
    user_id: key.userId,
    models: key.models === null ? null : [...key.models],
    requests_per_minute: key.rpm,
    tokens_per_minute: key.tpm,
    parallel_max: key.parallelMax,
    budget_nano_usd: key.budgetNanoUsd,
    spent_nano_usd: await accounts.spentBy(key.name, windowFrom),
    window_from: isoInstant(windowFrom),
    tags: [...key.tags],
    blocked: key.isBlocked,
  };
}
