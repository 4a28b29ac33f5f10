/**
 * The items of a run: searched, and one with what there is to see of its work.
 * Owns the routes; filter and order are in core/run/items/item-query.ts.
 */
import { z } from 'zod';
import { CHECK_LOG } from '../../activities/check-log.ts';
import { PATCH_FILE } from '../../activities/collect/diff.ts';
import { lastWords } from '../../activities/collect/last-words.ts';
import { judgedScores } from '../../activities/score-file.ts';
import type { World } from '../../activities/world.ts';
import { troubleOfItem } from '../../core/current-trouble.ts';
import type { ConversationId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { RunRow } from '../../core/machine/projection.ts';
import {
  ITEM_ORDERS,
  orderValue,
  queryItems,
  type ItemFilter,
  type QueriedItem,
} from '../../core/run/items/item-query.ts';
import { OUTCOMES } from '../../core/status.ts';
import type { PlacedItem } from '../../ports/record-search.ts';
import type { Application } from '../application/application.ts';
import { answerPage, pageRequest } from '../application/cursor.ts';
import { route } from '../application/route.ts';
import { limitIn, pageIdIn, pageOf, repeated, wordIn } from '../application/wire.ts';
import { currentTroubles, findRun, itemsOfPlan, OF_RUN } from './run-access.ts';
import { ITEM_PHASES, runItemRecord, runItemSchema } from './run-record.ts';

const STATES = [
  ...OUTCOMES,
  ...ITEM_PHASES.filter((phase) => phase !== 'ended' && phase !== 'waiting'),
] as const;
const TAGS_MAX = 10;
const KEY_CHARS_MAX = 200;
const WORD_CHARS_MAX = 256;
/** As much of a text as a person reads in a page; the whole of it is among the results. */
const SHOWN_BYTES_MAX = 400_000;

const itemQuery = z.object({
  page_id: pageIdIn,
  limit: limitIn,
  state: repeated(z.enum(STATES), STATES.length)
    .optional()
    .meta({ description: 'Outcomes, or the phases of items that have none; may be repeated.' }),
  model: z.string().max(WORD_CHARS_MAX).optional(),
  repository: z.string().max(WORD_CHARS_MAX).optional(),
  tag: repeated(
    z
      .string()
      .max(2 * WORD_CHARS_MAX)
      .regex(/^[^=]+=/, 'Input should be name=value'),
    TAGS_MAX,
  )
    .optional()
    .meta({ description: '`name=value`; may be repeated, and then all of them count.' }),
  key__contains: z.string().max(KEY_CHARS_MAX).optional(),
  sort_order: wordIn(ITEM_ORDERS).default('POSITION'),
  descending: z.stringbool().default(false),
});

type ItemQuery = z.output<typeof itemQuery>;

const cutText = z
  .object({
    text: z.string(),
    is_cut: z.boolean().meta({ description: 'The rest of it is in the file of the results.' }),
  })
  .nullable();

const evidenceSchema = z
  .object({
    key: z.string(),
    prompt: z.string().nullable().meta({ description: 'Null when the plan has the item no more.' }),
    answer: cutText.meta({
      description: 'What the agent said last; null when it said nothing that is kept.',
    }),
    check_command: z.string().nullable(),
    check_output: cutText.meta({ description: 'Its first line says how it ended; null when none ran.' }),
    patch: cutText.meta({
      description: 'What it changed, as Git writes it; null when nothing was collected.',
    }),
  })
  .meta({ id: 'RunItemEvidence' });

export const RUN_ITEM_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/runs/:run_id/items/search',
    operation: 'search_run_items',
    summary:
      'The items of a run, in the order of its plan or by cost, time, outcome, model, repository or key.',
    ...OF_RUN,
    query: itemQuery,
    result: pageOf(runItemSchema),
    handler: async ({ application, caller, params: { run_id: id }, query }) => {
      const run = await findRun(application, caller, id);
      const now = application.world.clock.now();
      const found = await foundItems(application, run, { query, now });
      return await answerPage(found, query.limit, {
        cursor: (item) => ({ value: orderValue(item, query.sort_order, now), id: item.row.key }),
        records: async (items) => {
          const open = await currentTroubles(application);
          return await Promise.all(
            items.map(async ({ row, facts }) =>
              runItemRecord(
                { ...row, trouble: troubleOfItem(open, row) },
                { scores: await judgedScores(application.world, run.runId, row), facts },
              ),
            ),
          );
        },
      });
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/runs/:run_id/items/evidence',
    operation: 'get_run_item_evidence',
    summary: 'What there is to see of the work of one item: prompt, answer, output of the check, changes.',
    ...OF_RUN,
    // Not `key`: that name is for keys of the API, which no address may hold.
    query: z.object({ item: z.string().min(1).max(KEY_CHARS_MAX) }),
    result: evidenceSchema,
    handler: async ({ application, caller, params: { run_id: id }, query: { item: key } }) => {
      const { world } = application;
      const run = await findRun(application, caller, id);
      const row = await world.records.runItem(run.runId, key);
      if (row === null) throw new ParleyError('not_found', 'Item not found');
      const planned = (await itemsOfPlan(world, run)).get(key) ?? null;
      const [answer, output, patch] = await Promise.all([
        row.conversationId === null ? null : answerOf(world, row.conversationId),
        shown(world, run, { key, name: CHECK_LOG }),
        shown(world, run, { key, name: PATCH_FILE }),
      ]);
      return {
        key,
        prompt: planned?.prompt ?? null,
        answer,
        check_command: planned?.verify?.command ?? null,
        check_output: output,
        patch,
      };
    },
  }),
] as const;

/** In the order of the plan a page is read alone; any other order, and a filter, is over all items. */
async function foundItems(
  { world, search }: Application,
  run: RunRow,
  { query, now }: { readonly query: ItemQuery; readonly now: number },
): Promise<readonly QueriedItem[]> {
  const plan = await itemsOfPlan(world, run);
  const beside = ({ row, position }: PlacedItem): QueriedItem => ({
    ...{ row, position },
    facts: plan.get(row.key) ?? null,
  });
  const { sort_order: order, descending } = query;
  const filter = filterOf(query);
  const page = { ...pageRequest(query), order, descending };
  if (order === 'POSITION' && Object.keys(filter).length === 0)
    return (await search.runItems(run.runId, page)).map(beside);
  const rows = await world.records.runItems(run.runId);
  return queryItems(
    rows.map((row, position) => beside({ row, position })),
    filter,
    page,
    now,
  );
}

function filterOf(query: ItemQuery): ItemFilter {
  const { state, model, repository, tag, key__contains: keyContains } = query;
  return {
    ...(state === undefined ? {} : { states: state }),
    ...(model === undefined ? {} : { model }),
    ...(repository === undefined ? {} : { repository }),
    ...(keyContains === undefined ? {} : { keyContains }),
    ...(tag === undefined
      ? {}
      : {
          tags: Object.fromEntries(tag.map((text) => [text.split('=', 1)[0], text.replace(/^[^=]+=/, '')])),
        }),
  };
}

/** Its secrets were taken out when it was stored (D20). */
async function answerOf(world: World, id: ConversationId): Promise<z.output<typeof cutText>> {
  const text = await lastWords(world, id);
  return shownText(text === null ? null : new TextEncoder().encode(text));
}

async function shown(
  { results }: Pick<World, 'results'>,
  { runId }: Pick<RunRow, 'runId'>,
  file: { readonly key: string; readonly name: string },
): Promise<z.output<typeof cutText>> {
  return shownText(await results.read({ runId, ...file }));
}

/** Bytes of another encoding are shown as what cannot be read of them. */
function shownText(content: Uint8Array | null): z.output<typeof cutText> {
  if (content === null) return null;
  return {
    text: new TextDecoder().decode(content.subarray(0, SHOWN_BYTES_MAX)),
    is_cut: content.byteLength > SHOWN_BYTES_MAX,
  };
}
