/** The database's own clock, by which leases end: those of hosts need not agree. */
import { sql } from 'kysely';
import type { Dialect } from './connection.ts';

/** Epoch milliseconds, also within a transaction that waited for a lock. */
export function databaseNow(dialect: Dialect) {
  return dialect === 'postgres'
    ? sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
}
