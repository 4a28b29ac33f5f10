/**
 * What clients ask before anything else: whether the service is there, what it offers, which models there are.
 * Owns the routes; all but the models are open.
 */
import { z } from 'zod';
import { isoInstant, limitIn, pageIdIn, pageOf } from './wire.ts';
import { listPage } from './cursor.ts';
import { route } from './route.ts';

const okSchema = z.literal('OK');

const configSchema = z
  .object({
    app_mode: z.literal('oss'),
    feature_flags: z.record(z.string(), z.boolean()),
    providers_configured: z.array(z.string()),
    faulty_models: z.array(z.string()),
    error_message: z.string().nullable(),
    updated_at: z.string(),
    kind: z.literal('WebClientConfig'),
  })
  .meta({ id: 'WebClientConfig' });

const modelSchema = z.object({ id: z.string(), name: z.string() }).meta({ id: 'Model' });

export const SERVICE_ROUTES = [
  route({
    method: 'GET',
    url: '/alive',
    operation: 'is_alive',
    summary: 'The process goes on.',
    access: 'open',
    result: okSchema,
    handler: () => Promise.resolve('OK' as const),
  }),
  route({
    method: 'GET',
    url: '/health',
    operation: 'is_healthy',
    summary: 'The store answers.',
    access: 'open',
    result: okSchema,
    handler: async ({ application }) => {
      await application.apiKeys.hasAny();
      return 'OK' as const;
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/web-client/config',
    operation: 'get_web_client_config',
    summary: 'What a web client needs to know before it has a key.',
    access: 'open',
    result: configSchema,
    handler: () =>
      Promise.resolve({
        app_mode: 'oss' as const,
        feature_flags: { enable_billing: false, hide_llm_settings: false },
        providers_configured: [],
        faulty_models: [],
        error_message: null,
        updated_at: isoInstant(0),
        kind: 'WebClientConfig' as const,
      }),
  }),
  route({
    method: 'GET',
    url: '/api/v1/config/models/search',
    operation: 'search_models',
    summary: 'Models that the proxy lists.',
    access: 'key',
    query: z.object({ query: z.string().max(200).optional(), page_id: pageIdIn, limit: limitIn }),
    result: pageOf(modelSchema),
    handler: ({ application, query }) => {
      const found = application.models.filter((name) => name.includes(query.query ?? ''));
      const models = found.map((name) => ({ id: `openai/${name}`, name }));
      return Promise.resolve(listPage(models, query));
    },
  }),
] as const;
