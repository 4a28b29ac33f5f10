/**
 * Buckets of callers that several services on PostgreSQL share.
 * Owns the counting, in one statement for all callers of a report; a table that is not logged, because a crash may
 * forget it.
 */
import { sql } from 'kysely';
import type { RateMeter } from '../../ports/rate-meter.ts';
import { columnText, safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { databaseNow } from '../sql/database-now.ts';

/** Parts of a request are counted as whole numbers. */
const PARTS = 1_000;
/** A bucket that rests so long is full, as one is that is not there. */
const RESTS_MS = 600_000;
const CLEAN_EVERY_REPORTS = 100;

/** Read once for a statement. */
const NOW = sql`(select ${databaseNow('postgres')} as at)`;

export function rateMeter(connection: StoreConnection): RateMeter {
  let reports = 0;
  return {
    async settle({ burst, perSecond }, used) {
      const full = Math.round(burst * PARTS);
      const rows = [...used].map(([caller, count]) => ({ bucket: columnText(caller), used: count * PARTS }));
      const left = await connection.write('count requests', (transaction) =>
        // In one order, so that two services never wait for each other.
        sql<{ readonly bucket: string; readonly tokens: number | bigint | string }>`
          insert into rate_bucket as kept (bucket, tokens, at)
          select bucket, ${full}::bigint - used, at
            from json_to_recordset(${JSON.stringify(rows)}::json) as one (bucket text, used bigint), ${NOW} as now
            order by bucket
          on conflict (bucket) do update set
            tokens = least(${full}::bigint,
              kept.tokens + round(greatest(0, excluded.at - kept.at) * ${perSecond}::numeric)::bigint)
              - (${full}::bigint - excluded.tokens),
            at = greatest(kept.at, excluded.at)
          returning bucket, tokens`.execute(transaction),
      );
      if ((reports += 1) % CLEAN_EVERY_REPORTS === 0) await clean(connection);
      const tokens = new Map(left.rows.map((row) => [row.bucket, safeInteger(row.tokens) / PARTS]));
      return new Map([...used.keys()].map((caller) => [caller, tokens.get(columnText(caller)) ?? burst]));
    },
  };
}

async function clean(connection: StoreConnection): Promise<void> {
  await connection.write('forget callers that rest', (transaction) =>
    sql`delete from rate_bucket using ${NOW} as now where rate_bucket.at < now.at - ${RESTS_MS}::bigint`.execute(
      transaction,
    ),
  );
}
