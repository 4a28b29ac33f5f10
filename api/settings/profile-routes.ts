/**
 * Model profiles: save, read, list, delete, activate, rename (spec "Model profile").
 * Owns the routes; a stored key is never answered, and headers survive the round trip.
 */
import { z } from 'zod';
import { ParleyError } from '../../core/parley-error.ts';
import { route, type Call } from '../application/route.ts';
import type { Principal } from '../application/application.ts';
import {
  profileNames,
  profileOf,
  PROFILES_MAX,
  putProfile,
  removeProfile,
  renameProfile,
} from './profile-record.ts';
import { putSettings, storedSettings } from './settings-record.ts';

const HEADERS_MAX = 50;
const HEADER_CHARS_MAX = 8_192;
const TEXT_CHARS_MAX = 1_024;

const nameIn = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, 'Names hold letters, digits, dot, dash and underscore');
const params = z.object({ profile_name: nameIn });
const OF_PROFILE = { access: 'keyInEither', params, errors: ['not_found'] } as const;

const headersIn = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/, 'Input should be the name of a header'),
    z
      .string()
      .max(HEADER_CHARS_MAX)
      .regex(/^[\t\x20-\x7e]*$/, 'A header holds visible ASCII characters only'),
  )
  .refine((headers) => Object.keys(headers).length <= HEADERS_MAX, `At most ${HEADERS_MAX} headers`)
  .meta({ maxProperties: HEADERS_MAX });

/** Unknown keys are mistakes here: a field that is passed over would not take effect in silence. */
const llmIn = z.strictObject({
  model: z.string().min(1).max(TEXT_CHARS_MAX).nullish(),
  base_url: z.url().max(TEXT_CHARS_MAX).nullish(),
  api_key: z.string().max(HEADER_CHARS_MAX).nullish(),
  extra_headers: headersIn.nullish(),
});

const configSchema = z
  .object({
    model: z.string().nullable(),
    base_url: z.string().nullable(),
    api_key: z.string().nullable().meta({ description: 'Always null: a key is never shown.' }),
    extra_headers: z.record(z.string(), z.string()),
  })
  .meta({ id: 'ProfileModel' });

const savedSchema = z.object({ name: z.string(), message: z.string() });

export const PROFILE_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/settings/profiles',
    operation: 'list_profiles',
    summary: 'Names of the profiles, and which one new conversations take.',
    access: 'keyInEither',
    result: z.object({
      profiles: z.array(
        z.object({
          name: z.string(),
          model: z.string().nullable(),
          base_url: z.string().nullable(),
          api_key_set: z.boolean(),
        }),
      ),
      active_profile: z.string().nullable(),
    }),
    handler: async ({ application, caller }) => {
      const found = await profileNames(application, caller.userId);
      const { activeProfile } = await storedSettings(application, caller.userId);
      const profiles = found.map(({ name, model, baseUrl, hasApiKey }) => ({
        name,
        model,
        base_url: baseUrl,
        api_key_set: hasApiKey,
      }));
      return { profiles, active_profile: activeProfile ?? null };
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/settings/profiles/:profile_name',
    operation: 'get_profile',
    summary: 'One profile without its key.',
    ...OF_PROFILE,
    result: z.object({ name: z.string(), config: configSchema, api_key_set: z.boolean() }),
    handler: async (call) => {
      const { name, model, baseUrl, apiKey, extraHeaders } = await find(call, call.params.profile_name);
      const config = { model, base_url: baseUrl, api_key: null, extra_headers: extraHeaders };
      return { name, config, api_key_set: apiKey !== null };
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/settings/profiles/:profile_name',
    operation: 'save_profile',
    summary: 'Makes a profile or changes what is named; `preserve_existing_api_key` keeps the stored key.',
    access: 'keyInEither',
    params,
    body: z.object({
      llm: llmIn.nullish(),
      preserve_existing_api_key: z.boolean().default(false),
      include_secrets: z.boolean().default(true),
    }),
    result: savedSchema,
    status: 201,
    leadsTo: { profile_name: '$request.path.profile_name' },
    errors: ['count_limit_reached'],
    handler: async ({ application, caller, params: { profile_name: name }, body }) => {
      const before = await profileOf(application, caller.userId, name);
      const { llm } = body;
      const keepsKey = body.preserve_existing_api_key || llm?.api_key === undefined || llm.api_key === null;
      const keyToKeep = (): string | null => {
        if (!body.include_secrets && !body.preserve_existing_api_key) return null;
        return keepsKey ? (before?.apiKey ?? null) : (llm.api_key ?? null);
      };
      const isStored = await putProfile(application, caller.userId, {
        name,
        model: llm?.model ?? before?.model ?? null,
        baseUrl: llm?.base_url ?? before?.baseUrl ?? null,
        apiKey: keyToKeep(),
        extraHeaders: llm?.extra_headers ?? before?.extraHeaders ?? {},
        hasApiKey: false,
      });
      if (isStored) return { name, message: `Profile '${name}' saved` };
      throw new ParleyError(
        'count_limit_reached',
        `Cannot save the profile: there are ${PROFILES_MAX} already`,
      );
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/settings/profiles/:profile_name',
    operation: 'delete_profile',
    summary: 'Removes a profile; removing none is success.',
    access: 'keyInEither',
    params,
    result: savedSchema,
    handler: async ({ application, caller, params: { profile_name: name } }) => {
      await removeProfile(application, caller.userId, name);
      await moveActive({ application, caller }, name, undefined);
      return { name, message: `Profile '${name}' deleted` };
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/settings/profiles/:profile_name/activate',
    operation: 'activate_profile',
    summary: 'New conversations take this profile.',
    ...OF_PROFILE,
    result: savedSchema.extend({ model: z.string().nullable() }),
    handler: async (call) => {
      const { name, model } = await find(call, call.params.profile_name);
      const { application, caller } = call;
      const stored = await storedSettings(application, caller.userId);
      await putSettings(application, caller.userId, { ...stored, activeProfile: name });
      return { name, model, message: `Profile '${name}' activated` };
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/settings/profiles/:profile_name/rename',
    operation: 'rename_profile',
    summary: 'Gives a profile another name.',
    access: 'keyInEither',
    params,
    body: z.object({ new_name: nameIn }),
    result: savedSchema,
    errors: ['not_found', 'name_taken'],
    handler: async ({ application, caller, params: { profile_name: from }, body: { new_name: to } }) => {
      const outcome = await renameProfile(application, caller.userId, { from, to });
      if (outcome === 'missing') throw new ParleyError('not_found', `Profile '${from}' not found`);
      if (outcome === 'taken') throw new ParleyError('name_taken', `Profile '${to}' exists already`);
      await moveActive({ application, caller }, from, to);
      return { name: to, message: `Profile '${from}' renamed to '${to}'` };
    },
  }),
] as const;

type Around = Pick<Call<unknown, unknown, unknown, Principal>, 'application' | 'caller'>;

async function find({ application, caller }: Around, name: string) {
  const profile = await profileOf(application, caller.userId, name);
  if (profile !== null) return profile;
  throw new ParleyError('not_found', `Profile '${name}' not found`);
}

/** The active profile is known by its name. */
async function moveActive(
  { application, caller }: Around,
  from: string,
  to: string | undefined,
): Promise<void> {
  const { activeProfile, ...stored } = await storedSettings(application, caller.userId);
  if (activeProfile !== from) return;
  await putSettings(application, caller.userId, {
    ...stored,
    ...(to === undefined ? {} : { activeProfile: to }),
  });
}
