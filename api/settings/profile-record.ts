/**
 * Model profiles as they are kept: a document without values that could be credentials, and a sealed part (D20).
 * Owns both halves and the way from a profile to what a start needs.
 */
import { z } from 'zod';
import type { UserId } from '../../core/ids.ts';
import type { Json } from '../../ports/engine-store.ts';
import type { Application } from '../application/application.ts';
import type { UserSettings } from './settings-record.ts';

/** As in the reference product. */
export const PROFILES_MAX = 50;

const storedSchema = z.object({
  model: z.string().nullable(),
  baseUrl: z.string().nullable(),
  hasApiKey: z.boolean(),
});
export type StoredProfile = z.infer<typeof storedSchema>;

export interface Profile extends StoredProfile {
  readonly name: string;
  readonly apiKey: string | null;
  readonly extraHeaders: Readonly<Record<string, string>>;
}

const sealedSchema = z.object({
  apiKey: z.string().nullable(),
  extraHeaders: z.record(z.string(), z.string()),
});

function scopeOf(userId: UserId): string {
  return `profiles/${userId}`;
}

export async function profileOf(
  { documents, world }: Application,
  userId: UserId,
  name: string,
): Promise<Profile | null> {
  const body = await documents.document(userId, 'profile', name);
  if (body === null) return null;
  const sealed = await world.vault.get(scopeOf(userId), name);
  const { apiKey, extraHeaders } =
    sealed === null ? { apiKey: null, extraHeaders: {} } : sealedSchema.parse(JSON.parse(sealed));
  return { name, ...storedSchema.parse(body), apiKey, extraHeaders };
}

export async function profileNames({ documents }: Application, userId: UserId) {
  const found = await documents.documents(userId, 'profile');
  return found.map(({ name, body }) => ({ name, ...storedSchema.parse(body) }));
}

/** False when the user has as many as are allowed. */
export async function putProfile(
  { documents, world }: Application,
  userId: UserId,
  profile: Profile,
): Promise<boolean> {
  const { name, model, baseUrl, apiKey, extraHeaders } = profile;
  const body: Json = { model, baseUrl, hasApiKey: apiKey !== null };
  if (!(await documents.putDocument(userId, { kind: 'profile', name, body }, PROFILES_MAX))) return false;
  await world.vault.put(scopeOf(userId), name, JSON.stringify({ apiKey, extraHeaders }));
  return true;
}

export async function removeProfile(
  { documents, world }: Application,
  userId: UserId,
  name: string,
): Promise<boolean> {
  const existed = await documents.removeDocument(userId, 'profile', name);
  await world.vault.remove(scopeOf(userId), name);
  return existed;
}

/** The sealed part first: a profile never stands there under a name without it. */
export async function renameProfile(
  { documents, world }: Application,
  userId: UserId,
  names: { readonly from: string; readonly to: string },
): Promise<'renamed' | 'missing' | 'taken'> {
  const { from, to } = names;
  if (from !== to && (await documents.document(userId, 'profile', to)) !== null) return 'taken';
  const sealed = await world.vault.get(scopeOf(userId), from);
  if (sealed !== null && from !== to) await world.vault.put(scopeOf(userId), to, sealed);
  const outcome = await documents.renameDocument(userId, 'profile', names);
  if (outcome === 'renamed' && from !== to) await world.vault.remove(scopeOf(userId), from);
  return outcome;
}

export interface ActiveProfile {
  /** As the proxy lists it; null leaves the choice to the proxy. */
  readonly model: string | null;
  readonly extraHeaders: Readonly<Record<string, string>>;
}

/** Profiles spell a model with this prefix (spec "Model profile"). */
const MODEL_PREFIX = /^openai\//;

export async function activeProfile(
  application: Application,
  userId: UserId,
  { activeProfile: name }: UserSettings,
): Promise<ActiveProfile | null> {
  const profile = name === null ? null : await profileOf(application, userId, name);
  if (profile === null) return null;
  return { model: profile.model?.replace(MODEL_PREFIX, '') ?? null, extraHeaders: profile.extraHeaders };
}
