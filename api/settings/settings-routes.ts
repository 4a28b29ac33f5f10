/**
 * A user's application settings (spec "Placement": Sandbox Grouping Strategy), and the limits that hold for everybody.
 * Owns the routes and the wire's spelling; no field sets a limit of the deployment (D10).
 */
import { z } from 'zod';
import { GROUPING_STRATEGIES } from '../../core/status.ts';
import type { Application, Principal } from '../application/application.ts';
import { groupingStrategy, securityAnalyzer } from '../application/words.ts';
import { route, type Call } from '../application/route.ts';
import { SUCCESS, wordIn } from '../application/wire.ts';
import { listSecrets } from './stored-secrets.ts';
import { profileNames } from './profile-record.ts';
import { putSettings, settingsOf, storedSettings, type StoredSettings } from './settings-record.ts';

const ITERATIONS_MAX = 100_000;
const groupingIn = wordIn(GROUPING_STRATEGIES);

export const settingsSchema = z
  .object({
    language: z.string(),
    sandbox_grouping_strategy: groupingStrategy,
    git_user_name: z.string(),
    git_user_email: z.string(),
    conversation_settings: z.object({
      schema_version: z.int(),
      max_iterations: z.int(),
      confirmation_mode: z.boolean(),
      security_analyzer: securityAnalyzer.nullable(),
    }),
    llm_profiles: z.object({ active: z.string().nullable(), names: z.array(z.string()) }),
    custom_secrets: z.array(z.string()),
    limits: z.object({
      idle_time: z.number().nullable().meta({ description: 'Seconds; null for never.' }),
      deletion_time: z.number().nullable().meta({ description: 'Seconds; null for never.' }),
      sandboxes: z.int(),
      sandboxes_per_user: z.int(),
      conversations_per_sandbox: z.int(),
    }),
    v1_enabled: z.literal(true),
  })
  .meta({ id: 'Settings' });
export type SettingsRecord = z.output<typeof settingsSchema>;

const updateSchema = z.object({
  language: z.string().max(20).nullish(),
  sandbox_grouping_strategy: groupingIn.nullish(),
  git_user_name: z.string().trim().min(1).max(200).nullish(),
  git_user_email: z.string().trim().min(3).max(320).nullish(),
  conversation_settings_diff: z
    .object({
      max_iterations: z.int().min(1).max(ITERATIONS_MAX).optional(),
      confirmation_mode: z.boolean().optional(),
      security_analyzer: securityAnalyzer.nullable().optional(),
    })
    .nullish(),
  // Older clients send the whole, which would undo what another client has changed.
  agent_settings: z.never('Use agent_settings_diff').optional(),
  conversation_settings: z.never('Use conversation_settings_diff').optional(),
});
type Update = z.output<typeof updateSchema>;

export const SETTINGS_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/settings',
    operation: 'get_settings',
    summary: "The user's application settings, and the limits of the deployment.",
    access: 'keyInEither',
    result: settingsSchema,
    handler: ({ application, caller }) => settingsRecord(application, caller),
  }),
  route({
    method: 'POST',
    url: '/api/v1/settings',
    operation: 'update_settings',
    summary: 'Changes what is named, for conversations that start from now on.',
    access: 'keyInEither',
    body: updateSchema,
    result: z.object({ message: z.string() }),
    handler: async (call) => {
      await update(call);
      return { message: 'Settings stored' };
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/users/me',
    operation: 'get_current_user',
    summary: 'Who holds the key, with the settings.',
    access: 'keyInEither',
    result: settingsSchema.extend({ id: z.string(), role: z.enum(['admin', 'user']) }),
    handler: async ({ application, caller }) => ({
      ...(await settingsRecord(application, caller)),
      id: caller.userId,
      role: caller.scope,
    }),
  }),
] as const;

async function settingsRecord(application: Application, { userId }: Principal): Promise<SettingsRecord> {
  const settings = await settingsOf(application, userId);
  const { limits, capacity, gitAuthor } = application.world.deployment;
  const author = settings.gitAuthor ?? gitAuthor;
  const profiles = await profileNames(application, userId);
  const secrets = await listSecrets(application, userId);
  return {
    language: settings.language,
    sandbox_grouping_strategy: settings.grouping,
    git_user_name: author.name,
    git_user_email: author.email,
    conversation_settings: {
      schema_version: 1,
      max_iterations: settings.iterationsMax,
      confirmation_mode: settings.confirmation !== 'never',
      security_analyzer: settings.confirmation === 'risky' ? 'llm' : null,
    },
    llm_profiles: { active: settings.activeProfile, names: profiles.map(({ name }) => name) },
    custom_secrets: secrets.map(({ name }) => name),
    limits: {
      idle_time: seconds(limits.idleTimeMs),
      deletion_time: seconds(limits.deletionTimeMs),
      sandboxes: capacity.installationMax,
      sandboxes_per_user: capacity.userMax,
      conversations_per_sandbox: capacity.conversationsPerSandboxMax,
    },
    v1_enabled: SUCCESS.success,
  };
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1_000;
}

async function update({
  application,
  caller,
  body,
}: Call<undefined, undefined, Update, Principal>): Promise<void> {
  const stored = await storedSettings(application, caller.userId);
  const { max_iterations: iterationsMax } = body.conversation_settings_diff ?? {};
  const changed: StoredSettings = {
    ...stored,
    ...named('language', body.language),
    ...named('grouping', body.sandbox_grouping_strategy),
    ...named('gitUserName', body.git_user_name),
    ...named('gitUserEmail', body.git_user_email),
    ...named('iterationsMax', iterationsMax),
    ...named('confirmation', confirmationOf(stored, body)),
  };
  await putSettings(application, caller.userId, changed);
}

function named<Name extends keyof StoredSettings>(
  name: Name,
  value: StoredSettings[Name] | null | undefined,
): StoredSettings {
  return value === null || value === undefined ? {} : { [name]: value };
}

/** Two switches on the wire, one policy here. */
function confirmationOf(
  stored: StoredSettings,
  { conversation_settings_diff: diff }: Update,
): StoredSettings['confirmation'] {
  if (diff?.confirmation_mode === undefined && diff?.security_analyzer === undefined) return undefined;
  const isOn = diff.confirmation_mode ?? (stored.confirmation ?? 'never') !== 'never';
  if (!isOn) return 'never';
  const wasRisky = stored.confirmation === 'risky';
  const analyzer = diff.security_analyzer === undefined ? (wasRisky ? 'llm' : null) : diff.security_analyzer;
  return analyzer === 'llm' ? 'risky' : 'always';
}
