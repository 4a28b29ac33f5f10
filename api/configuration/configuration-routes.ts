/**
 * Reading and changing the deployment's configuration, for administrators.
 * Owns the routes and the wire's spelling; what is checked, kept and applied is the desk's.
 */
import { z } from 'zod';
import { ParleyError } from '../../core/parley-error.ts';
import type { Application } from '../application/application.ts';
import { route } from '../application/route.ts';
import { InvalidRequest } from '../application/validation.ts';
import type {
  ConfigurationChange,
  ConfigurationDesk,
  ConfigurationFields,
  ConfigurationState,
} from './configuration-desk.ts';

/** A configuration is a page or two; a longer text is something else. */
const TEXT_CHARS_MAX = 256 * 1024;
/** As the file's own schema has it: a year. */
const SECONDS_MAX = 366 * 86_400;
const HEADERS_MAX = 50;
const HEADER_CHARS_MAX = 8_192;
const WORD_CHARS_MAX = 64;

const fieldsSchema = z
  .object({
    idle_time: z.number().meta({ description: 'Seconds; 0 for never.' }),
    deletion_time: z.number().meta({ description: 'Seconds; 0 for never.' }),
    forward_client_headers_to_llm_api: z.boolean(),
    llm_provider: z.string(),
    custom_llm_extra_headers: z.record(z.string(), z.string()),
  })
  .meta({ id: 'DeploymentFields' });

const configurationSchema = z
  .object({
    path: z.string(),
    text: z.string(),
    revision: z.string(),
    fields: fieldsSchema,
    overridden: z.array(z.string()).meta({ description: 'Keys that a variable of the environment decides.' }),
    needs_restart: z.array(z.string()).meta({ description: 'Keys that hold after the next start only.' }),
    warnings: z.array(z.string()).meta({ description: 'Why the text, or a part of it, does not hold yet.' }),
  })
  .meta({ id: 'DeploymentConfiguration' });

const deployedSchema = configurationSchema.extend({
  applied: z.array(z.string()).meta({ description: 'Keys that hold from now on.' }),
  warnings: z.array(z.string()).meta({
    description: 'Why the text, or a part of it, does not hold yet, and what its check says besides.',
  }),
});

const revisionIn = z.string().regex(/^[0-9a-f]{64}$/, 'Input should be a revision');
const secondsIn = z.int().min(0).max(SECONDS_MAX);

const fieldsIn = z.strictObject({
  idle_time: secondsIn.optional(),
  deletion_time: secondsIn.optional(),
  forward_client_headers_to_llm_api: z.boolean().optional(),
  llm_provider: z.string().min(1).max(WORD_CHARS_MAX).optional(),
  custom_llm_extra_headers: z
    .record(z.string().min(1).max(256), z.string().max(HEADER_CHARS_MAX))
    .refine((headers) => Object.keys(headers).length <= HEADERS_MAX, `At most ${HEADERS_MAX} headers`)
    .meta({ maxProperties: HEADERS_MAX })
    .optional(),
});

const ERRORS = ['not_found', 'store_conflict'] as const;

export const CONFIGURATION_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/configuration',
    operation: 'get_configuration',
    summary: 'The configuration of the deployment as it is written, and what of it does not hold yet.',
    access: 'admin',
    result: configurationSchema,
    errors: ['not_found'],
    handler: async ({ application }) => shown(await deskOf(application).state()),
  }),
  route({
    method: 'PUT',
    url: '/api/v1/configuration',
    operation: 'deploy_configuration',
    summary: 'Checks, saves and deploys a configuration; the text before it is kept beside it.',
    access: 'admin',
    body: z.object({ text: z.string().max(TEXT_CHARS_MAX), revision: revisionIn }),
    result: deployedSchema,
    errors: ERRORS,
    handler: ({ application, body: { text, revision } }) =>
      deploy(application, revision, { kind: 'text', text }),
  }),
  route({
    method: 'PATCH',
    url: '/api/v1/configuration',
    operation: 'update_configuration',
    summary: 'Changes single keys of the configuration, saves and deploys it; comments stay.',
    access: 'admin',
    body: z.object({ fields: fieldsIn, revision: revisionIn }),
    result: deployedSchema,
    errors: ERRORS,
    handler: ({ application, body: { fields, revision } }) =>
      deploy(application, revision, { kind: 'fields', fields: fieldsOf(fields) }),
  }),
] as const;

/** @throws ParleyError not_found where the service has no file of its own */
function deskOf({ configuration }: Application): ConfigurationDesk {
  if (configuration !== null) return configuration;
  throw new ParleyError('not_found', 'Cannot find the configuration: this service has none of its own');
}

/** @throws InvalidRequest with every finding, ParleyError store_conflict */
async function deploy(
  application: Application,
  revision: string,
  change: ConfigurationChange,
): Promise<z.output<typeof deployedSchema>> {
  const outcome = await deskOf(application).change(revision, change);
  switch (outcome.kind) {
    case 'deployed': {
      const { state, applied, warnings } = outcome;
      return { ...shown(state), applied: [...applied], warnings: [...state.warnings, ...warnings] };
    }
    case 'refused':
      throw new InvalidRequest(outcome.findings);
    case 'outdated':
      throw new ParleyError(
        'store_conflict',
        'Cannot save the configuration: it was changed since it was read; read it again',
      );
  }
}

function shown(state: ConfigurationState): z.output<typeof configurationSchema> {
  const { path, text, revision, fields, overridden, needsRestart, warnings } = state;
  return {
    ...{ path, text, revision },
    fields: {
      idle_time: fields.idleTime,
      deletion_time: fields.deletionTime,
      forward_client_headers_to_llm_api: fields.forwardsClientHeaders,
      llm_provider: fields.llmProvider,
      custom_llm_extra_headers: { ...fields.customHeaders },
    },
    overridden: [...overridden],
    needs_restart: [...needsRestart],
    warnings: [...warnings],
  };
}

function fieldsOf(fields: z.output<typeof fieldsIn>): Partial<ConfigurationFields> {
  const { idle_time, deletion_time, forward_client_headers_to_llm_api, llm_provider } = fields;
  const { custom_llm_extra_headers } = fields;
  return {
    ...(idle_time === undefined ? {} : { idleTime: idle_time }),
    ...(deletion_time === undefined ? {} : { deletionTime: deletion_time }),
    ...(forward_client_headers_to_llm_api === undefined
      ? {}
      : { forwardsClientHeaders: forward_client_headers_to_llm_api }),
    ...(llm_provider === undefined ? {} : { llmProvider: llm_provider }),
    ...(custom_llm_extra_headers === undefined ? {} : { customHeaders: custom_llm_extra_headers }),
  };
}
