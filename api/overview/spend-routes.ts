/**
 * Spend over time by model, user, team, tag or key.
 * Owns the route and how an interval is cut into buckets; a user sees the calls of its own conversations.
 */
import { z } from 'zod';
import { DAY_MS, HOUR_MS } from '../../core/time.ts';
import { SPEND_DIMENSIONS, SPEND_GROUPS_MAX, type SpendBucket } from '../../ports/overview.ts';
import { route } from '../application/route.ts';
import { invalid } from '../application/validation.ts';
import { whoseRecords } from '../application/application.ts';
import { instantIn, instantOut, isoInstant, parseInstant } from '../application/wire.ts';
import { nanoUsd } from '../runs/run-record.ts';

const SPAN_MS = 7 * DAY_MS;
const SPAN_MS_MAX = 366 * DAY_MS;
/** Years of four digits: others are spelled in a way that few clients read. */
const YEAR_0_MS = Date.parse('0000-01-01T00:00:00Z');
const LAST_DAY_MS = Date.parse('9999-12-31T00:00:00Z');
/** Shorter intervals are shown by the hour. */
const BY_HOUR_MS_MAX = 2 * DAY_MS;

const sumsSchema = z
  .object({
    calls: z.int(),
    failed: z.int(),
    unpriced: z.int().meta({ description: 'Calls without a price, which are in no amount.' }),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    cost_nano_usd: nanoUsd,
  })
  .meta({ id: 'SpendSums' });

const groupFields = {
  kind: z.enum(['named', 'none', 'others']).meta({
    description: `\`none\`: calls that have no such name; \`others\`: beyond the ${SPEND_GROUPS_MAX} dearest.`,
  }),
  name: z.string().meta({ description: 'Empty unless it is named.' }),
};

const spendSchema = z
  .object({
    by: z.enum(SPEND_DIMENSIONS),
    from: instantOut,
    to: instantOut,
    bucket_seconds: z.int(),
    total: sumsSchema.meta({ description: 'Each call once, also where a call has several tags.' }),
    groups: z.array(sumsSchema.extend(groupFields)).meta({ description: 'The dearest first.' }),
    buckets: z.array(z.object({ at: instantOut, ...groupFields, calls: z.int(), cost_nano_usd: nanoUsd })),
  })
  .meta({ id: 'SpendOverTime' });
type Sums = z.output<typeof sumsSchema>;

export const SPEND_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/spend',
    operation: 'get_spend',
    summary: 'What calls of models cost over time, by model, user, team, tag or key.',
    access: 'key',
    query: z.object({
      by: z.enum(SPEND_DIMENSIONS).default('model'),
      from: instantIn.optional().meta({ description: 'A week before `to` when left out.' }),
      to: instantIn.optional().meta({ description: 'Now when left out.' }),
    }),
    result: spendSchema,
    handler: async ({ application, caller, query: { by, ...interval } }) => {
      const { from, to, bucketMs } = cut(interval, application.world.clock.now());
      const question = { from, to, bucketMs, userId: whoseRecords(caller) };
      const rows = await application.overview.spend({ ...question, by });
      const each = by === 'tag' ? await application.overview.spend({ ...question, by: 'model' }) : rows;
      return {
        by,
        from: isoInstant(from),
        to: isoInstant(to),
        bucket_seconds: bucketMs / 1_000,
        total: each.reduce(added, NOTHING),
        groups: groupsOf(rows),
        buckets: rows.map(({ at, kind, name, calls, cost }) => ({
          ...{ at: isoInstant(at), kind, name, calls, cost_nano_usd: cost },
        })),
      };
    },
  }),
] as const;

/** @throws InvalidRequest */
function cut(
  { from: first, to: last }: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): { readonly from: number; readonly to: number; readonly bucketMs: number } {
  const to = last === undefined ? now : parseInstant(last);
  const from = first === undefined ? to - SPAN_MS : parseInstant(first);
  if (from >= to) throw invalid(['query', 'from'], 'Input should be before "to"');
  if (to - from > SPAN_MS_MAX) throw invalid(['query', 'from'], 'Input should be within 366 days of "to"');
  const bucketMs = to - from <= BY_HOUR_MS_MAX ? HOUR_MS : DAY_MS;
  const whole = (at: number): number => Math.min(LAST_DAY_MS, Math.max(YEAR_0_MS, at * bucketMs));
  return { from: whole(Math.floor(from / bucketMs)), to: whole(Math.ceil(to / bucketMs)), bucketMs };
}

const NOTHING: Sums = {
  ...{ calls: 0, failed: 0, unpriced: 0, prompt_tokens: 0, completion_tokens: 0, cost_nano_usd: 0 },
};

function added(sum: Sums, row: SpendBucket): Sums {
  return {
    calls: sum.calls + row.calls,
    failed: sum.failed + row.failed,
    unpriced: sum.unpriced + row.unpriced,
    prompt_tokens: sum.prompt_tokens + row.promptTokens,
    completion_tokens: sum.completion_tokens + row.completionTokens,
    cost_nano_usd: sum.cost_nano_usd + row.cost,
  };
}

function groupsOf(rows: readonly SpendBucket[]): z.output<typeof spendSchema>['groups'] {
  const groups = new Map<string, z.output<typeof spendSchema>['groups'][number]>();
  for (const row of rows) {
    const { kind, name } = row;
    const id = `${kind} ${name}`;
    groups.set(id, { kind, name, ...added(groups.get(id) ?? NOTHING, row) });
  }
  return [...groups.values()].sort((one, other) => other.cost_nano_usd - one.cost_nano_usd);
}
