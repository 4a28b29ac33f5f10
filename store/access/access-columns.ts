/**
 * The columns of what decides who may do what: keys, sealed secrets, repeats and the audit log.
 * Owns no behaviour: `schema/access-tables.ts` creates the tables.
 */
import type { Generated } from 'kysely';
import type { BigIntColumn, NullableBigIntColumn } from '../schema/column-types.ts';

export interface ProxyKeyTable {
  /** SHA-256 of the key, in hex. */
  readonly hash: string;
  readonly name: string;
  readonly created_at: BigIntColumn;
  readonly body: string;
}

export interface SecretTable {
  readonly scope: string;
  readonly name: string;
  /** Which key sealed it, so that keys can be changed. */
  readonly key_id: string;
  readonly sealed: string;
}

export interface ApiKeyTable {
  readonly key_id: Generated<number | bigint | string>;
  readonly user_id: string;
  readonly sha256: string;
  readonly name: string | null;
  readonly scope: string;
  readonly created_at: BigIntColumn;
  readonly not_before: NullableBigIntColumn;
  readonly expires_at: NullableBigIntColumn;
  readonly last_used_at: NullableBigIntColumn;
}

export interface IdempotencyKeyTable {
  readonly user_id: string;
  readonly target: string;
  readonly key: string;
  readonly mark: string;
  readonly used_at: BigIntColumn;
}

export interface AuditTable {
  readonly position: Generated<number | bigint | string>;
  readonly at: BigIntColumn;
  readonly user_id: string | null;
  readonly key_id: NullableBigIntColumn;
  readonly action: string;
  readonly about: string;
  readonly status: BigIntColumn;
}
