/**
 * A user's application settings, with the deployment's word where the user said nothing.
 * Owns the stored form; limits of the deployment are shown and never set here (D10).
 */
import { z } from 'zod';
import type { UserId } from '../../core/ids.ts';
import { GROUPING_STRATEGIES, type GroupingStrategy } from '../../core/status.ts';
import type { Json } from '../../ports/engine-store.ts';
import type { Application } from '../application/application.ts';

export const storedSettingsSchema = z.object({
  grouping: z.enum(GROUPING_STRATEGIES).optional(),
  gitUserName: z.string().optional(),
  gitUserEmail: z.string().optional(),
  language: z.string().optional(),
  iterationsMax: z.number().int().optional(),
  confirmation: z.enum(['never', 'risky', 'always']).optional(),
  activeProfile: z.string().optional(),
});
export type StoredSettings = z.infer<typeof storedSettingsSchema>;

export interface UserSettings {
  readonly grouping: GroupingStrategy;
  /** Null for the deployment's. */
  readonly gitAuthor: { readonly name: string; readonly email: string } | null;
  readonly language: string;
  readonly iterationsMax: number;
  readonly confirmation: 'never' | 'risky' | 'always';
  readonly activeProfile: string | null;
}

const NAME = 'application';

export async function storedSettings(
  { documents }: Pick<Application, 'documents'>,
  userId: UserId,
): Promise<StoredSettings> {
  const body = await documents.document(userId, 'settings', NAME);
  return body === null ? {} : storedSettingsSchema.parse(body);
}

export async function putSettings(
  { documents }: Pick<Application, 'documents'>,
  userId: UserId,
  settings: StoredSettings,
): Promise<void> {
  await documents.putDocument(userId, { kind: 'settings', name: NAME, body: settings as Json }, 1);
}

export async function settingsOf(application: Application, userId: UserId): Promise<UserSettings> {
  const { grouping, iterationsMax, gitAuthor } = application.world.deployment;
  const stored = await storedSettings(application, userId);
  const isNamed = stored.gitUserName !== undefined || stored.gitUserEmail !== undefined;
  return {
    grouping: stored.grouping ?? grouping,
    gitAuthor: isNamed
      ? { name: stored.gitUserName ?? gitAuthor.name, email: stored.gitUserEmail ?? gitAuthor.email }
      : null,
    language: stored.language ?? 'en',
    iterationsMax: stored.iterationsMax ?? iterationsMax,
    confirmation: stored.confirmation ?? 'never',
    activeProfile: stored.activeProfile ?? null,
  };
}
