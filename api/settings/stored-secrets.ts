/**
 * A user's stored secrets: sealed values, and descriptions beside them.
 * Owns their place; a value is never shown to the user again (D20).
 */
import { z } from 'zod';
import type { UserId } from '../../core/ids.ts';
import { SECRETS_MAX, SECRET_NAME_PATTERN, SECRET_PREFIXES_RESERVED } from '../../core/limits.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Application } from '../application/application.ts';

const storedSchema = z.object({ description: z.string().nullable() });

export interface StoredSecret {
  readonly name: string;
  readonly description: string | null;
}

function scopeOf(userId: UserId): string {
  return `user/${userId}`;
}

export async function listSecrets(
  { documents }: Application,
  userId: UserId,
): Promise<readonly StoredSecret[]> {
  const found = await documents.documents(userId, 'secret');
  return found.map(({ name, body }) => ({ name, ...storedSchema.parse(body) }));
}

/** Name to value, for a start and for the sandbox of the same user. */
export async function userSecrets(
  application: Application,
  userId: UserId,
): Promise<Readonly<Record<string, string>>> {
  const values: Record<string, string> = {};
  for (const { name } of await listSecrets(application, userId)) {
    const value = await secretValue(application, userId, name);
    if (value !== null) values[name] = value;
  }
  return values;
}

export function secretValue({ world }: Application, userId: UserId, name: string): Promise<string | null> {
  return world.vault.get(scopeOf(userId), name);
}

/** The value first: a name that is listed has one. False when the user has as many as are allowed. */
export async function putSecret(
  { documents, world }: Application,
  userId: UserId,
  secret: StoredSecret & { readonly value: string },
): Promise<boolean> {
  const { name, value, description } = secret;
  const isNew = (await documents.document(userId, 'secret', name)) === null;
  if (isNew && (await documents.documents(userId, 'secret')).length >= SECRETS_MAX) return false;
  await world.vault.put(scopeOf(userId), name, value);
  return await documents.putDocument(userId, { kind: 'secret', name, body: { description } }, SECRETS_MAX);
}

/** False when there is no such secret. */
export async function describeSecret(
  { documents }: Application,
  userId: UserId,
  { name, description }: StoredSecret,
): Promise<boolean> {
  if ((await documents.document(userId, 'secret', name)) === null) return false;
  return await documents.putDocument(userId, { kind: 'secret', name, body: { description } }, SECRETS_MAX);
}

export async function removeSecret(
  { documents, world }: Application,
  userId: UserId,
  name: string,
): Promise<boolean> {
  const existed = await documents.removeDocument(userId, 'secret', name);
  await world.vault.remove(scopeOf(userId), name);
  return existed;
}

const NAME_CHARS_MAX = 256;

/** Prefixes count in either case, and a pattern of JSON Schema has no flag for that. */
const RESERVED = SECRET_PREFIXES_RESERVED.map((prefix) =>
  prefix.replaceAll(/[A-Z]/g, (one) => `[${one}${one.toLowerCase()}]`),
).join('|');

/** A name in an address, where it would be taken for an operation. */
const ADDRESS = 'search';

/** @throws ParleyError secret_reserved */
export function requireNoAddress(name: string): void {
  if (name !== ADDRESS) return;
  throw new ParleyError(
    'secret_reserved',
    `Cannot take the secret "${name}": its name is an address of the API`,
  );
}

export const secretNameIn = z
  .string()
  .min(1)
  .max(NAME_CHARS_MAX)
  .meta({
    pattern: `^(?!${RESERVED}|${ADDRESS}$)${SECRET_NAME_PATTERN.source.slice(1)}`,
    description: 'Letters, digits and underscores; prefixes of the sandbox and the agent are reserved.',
  });
