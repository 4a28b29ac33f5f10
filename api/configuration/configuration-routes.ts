/**
 * Reading and changing the deployment's configuration, for administrators.
 * Owns the routes; what is checked, kept and applied is the desk's.
 */
import { z } from 'zod';
import { ParleyError } from '../../core/parley-error.ts';
import type { Application } from '../application/application.ts';
import { route } from '../application/route.ts';
import { InvalidRequest } from '../application/validation.ts';
import {
  configurationSchema,
  type ConfigurationChange,
  type ConfigurationDesk,
} from './configuration-desk.ts';

/** A configuration is a page or two; a longer text is something else. */
const TEXT_CHARS_MAX = 256 * 1024;
/** As the file's own schema has it: a year. */
const SECONDS_MAX = 366 * 86_400;
const HEADERS_MAX = 50;
const HEADER_CHARS_MAX = 8_192;
const WORD_CHARS_MAX = 64;

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
    handler: ({ application }) => deskOf(application).state(),
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
      deploy(application, revision, { kind: 'fields', fields }),
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
      return { ...state, applied: [...applied], warnings: [...state.warnings, ...warnings] };
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
