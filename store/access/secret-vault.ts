/**
 * Secrets at rest: sealed before they reach a table, opened only on request (D20).
 * Owns the sealing; a value is in no error, and no table holds it in clear.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { ParleyError } from '../../core/parley-error.ts';
import type { SecretVault } from '../../ports/secret-vault.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import { deriveKey, type SealKey } from './seal-key.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface VaultOptions {
  /** Keys that sealed values before; they open, and never seal. */
  readonly previous?: readonly SealKey[];
  readonly random?: (bytes: number) => Uint8Array;
}

interface Place {
  readonly scope: string;
  readonly name: string;
}

const SEALED = prepareQuery((db, { scope, name }: Place) =>
  db
    .selectFrom('secret')
    .select(['key_id', 'sealed'])
    .where('scope', '=', scope)
    .where('name', '=', name)
    .compile(),
);

const NAMES = prepareQuery((db, { scope }: Pick<Place, 'scope'>) =>
  db.selectFrom('secret').select('name').where('scope', '=', scope).orderBy('name').compile(),
);

const REMOVE_ONE = prepareQuery((db, { scope, name }: Place) =>
  db.deleteFrom('secret').where('scope', '=', scope).where('name', '=', name).compile(),
);

const REMOVE = prepareQuery((db, { scope }: Pick<Place, 'scope'>) =>
  db.deleteFrom('secret').where('scope', '=', scope).compile(),
);

export function secretVault(
  connection: StoreConnection,
  sealKey: SealKey,
  options: VaultOptions = {},
): SecretVault {
  const keys = new Map(
    [...(options.previous ?? []), sealKey].map((key) => [key.id, deriveKey(key, 'vault')]),
  );
  const random = options.random ?? randomBytes;
  return {
    async put(scope, name, value) {
      const key = keys.get(sealKey.id) ?? deriveKey(sealKey, 'vault');
      const sealed = {
        key_id: sealKey.id,
        sealed: seal({ scope, name }, value, { key, nonce: random(NONCE_BYTES) }),
      };
      await connection.write(`store the secret "${name}"`, (transaction) =>
        transaction
          .insertInto('secret')
          .values({ scope, name, ...sealed })
          .onConflict((conflict) => conflict.columns(['scope', 'name']).doUpdateSet(sealed))
          .execute(),
      );
    },
    async get(scope, name) {
      const row = await connection.read(`read the secret "${name}"`, (db) =>
        SEALED.first(db, { scope, name }),
      );
      return row === undefined ? null : open({ scope, name }, row.sealed, keys.get(row.key_id));
    },
    async names(scope) {
      const rows = await connection.read(`list the secrets of "${scope}"`, (db) => NAMES.all(db, { scope }));
      return rows.map((row) => row.name);
    },
    async remove(scope, name) {
      await connection.writeStatement(`remove the secret "${name}"`, (db) =>
        REMOVE_ONE.all(db, { scope, name }),
      );
    },
    async removeScope(scope) {
      await connection.writeStatement(`remove the secrets of "${scope}"`, (db) => REMOVE.all(db, { scope }));
    },
  };
}

/** Nonce, tag and ciphertext as one base64 text. */
function seal(
  place: Place,
  value: string,
  by: { readonly key: Uint8Array; readonly nonce: Uint8Array },
): string {
  const cipher = createCipheriv('aes-256-gcm', by.key, by.nonce).setAAD(boundTo(place));
  const content = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return Buffer.concat([by.nonce, cipher.getAuthTag(), content]).toString('base64');
}

function open(place: Place, sealed: string, key: Uint8Array | undefined): string {
  if (key === undefined) throw broken(place, 'it was sealed with another key');
  const bytes = Buffer.from(sealed, 'base64');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(boundTo(place)).setAuthTag(tag);
    const content = bytes.subarray(NONCE_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(content), decipher.final()]).toString('utf8');
  } catch (error) {
    throw broken(place, 'it was changed, or belongs to another name', error);
  }
}

/** A sealed value opens only under the scope and name it was stored for. */
function boundTo(place: Place): Buffer {
  return Buffer.from(JSON.stringify([place.scope, place.name]), 'utf8');
}

function broken(place: Place, state: string, cause?: unknown): ParleyError {
  return new ParleyError('seal_broken', `Cannot open the secret "${place.name}": ${state}`, { cause });
}
