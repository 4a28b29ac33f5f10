/**
 * Kinds of columns, as Kysely types them.
 * Owns what is written and what is read of each; must not know a table.
 */
import type { ColumnType } from 'kysely';

/**
 * A 64-bit column: written as a number, read as whatever the driver makes of it.
 * `safeInteger` turns it back, and refuses what a number cannot hold exactly.
 */
export type BigIntColumn = ColumnType<number | bigint | string, number, number>;
export type NullableBigIntColumn = ColumnType<number | bigint | string | null, number | null, number | null>;
/** 0 or 1 in both dialects. */
export type FlagColumn = number;
