/**
 * The report of a run as data, as it stands now: what the console draws beside the table of its items.
 * Owns the route and its shape; what a report says is in report/.
 */
import { z } from 'zod';
import { reportView, type ReportView, type ShownSection } from '../../activities/report/report-view.ts';
import { route } from '../application/route.ts';
import { instantOut, isoInstant } from '../application/wire.ts';
import { findRun, OF_RUN } from './run-access.ts';

const tone = z.enum(['plain', 'good', 'bad']);
const figureTone = z.enum(['good', 'bad', 'busy', 'rest']);
const words = z.string();

const blockSchema = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('text'), text: words, tone }),
    z.object({ kind: z.literal('list'), entries: z.array(words) }),
    z.object({ kind: z.literal('output'), lines: z.array(words) }),
    z.object({
      kind: z.literal('table'),
      columns: z.array(z.object({ title: words, side: z.enum(['left', 'right']) })),
      rows: z.array(z.array(words)),
    }),
  ])
  .meta({ id: 'ReportBlock' });

const sectionSchema = z
  .object({
    title: words.nullable().meta({ description: 'Null for what needs none.' }),
    blocks: z.array(blockSchema),
  })
  .meta({ id: 'ReportSection' });

const shapeSchema = z
  .discriminatedUnion('kind', [
    z.object({
      ...{ kind: z.literal('words'), x: z.number(), y: z.number() },
      ...{ anchor: z.enum(['start', 'middle', 'end']), text: words },
    }),
    z.object({
      ...{ kind: z.literal('bar'), tone: figureTone, x: z.number(), y: z.number() },
      ...{ width: z.number(), height: z.number() },
    }),
    z.object({ kind: z.literal('line'), tone: figureTone, points: words }),
    z.object({ kind: z.literal('area'), tone: figureTone, points: words }),
    z.object({ kind: z.literal('rule'), x1: z.number(), x2: z.number(), y: z.number() }),
  ])
  .meta({ id: 'ReportShape' });

const figureSchema = z
  .object({
    ...{ id: words, title: words, about: words },
    words: words.meta({ description: 'What it shows, for those who cannot see it.' }),
    legend: z.array(z.object({ name: words, tone: figureTone })),
    width: z.number(),
    height: z.number(),
    shapes: z.array(shapeSchema).meta({ description: 'In the order in which they are painted.' }),
  })
  .meta({ id: 'ReportFigure' });

const failureSchema = z
  .object({
    key: words,
    outcome: words,
    reason: words.nullable(),
    part: z.enum(['check', 'agent', 'sandbox']).meta({ description: 'Whose last lines they are.' }),
    lines: z.array(words),
    conversation_id: words.nullable(),
  })
  .meta({ id: 'ReportFailure' });

const reportSchema = z
  .object({
    written_at: instantOut,
    description: words.nullable(),
    last_run_id: words.nullable().meta({ description: 'What the tiles compare with.' }),
    verdicts: z.array(z.object({ words, tone })),
    tiles: z.array(
      z.object({
        ...{ name: words, value: words, note: words },
        tone: z.enum(['better', 'worse', 'same']),
        has_footnote: z.boolean(),
      }),
    ),
    failure_count: z.number().int(),
    failures: z.array(failureSchema).meta({ description: 'The first of them.' }),
    figures: z.array(figureSchema),
    sections: z.array(sectionSchema),
    footnote: sectionSchema.meta({ description: 'Every part of the money in nano-dollars.' }),
  })
  .meta({ id: 'RunReport' });

export const RUN_REPORT_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/runs/:run_id/report',
    operation: 'get_run_report',
    summary: 'The report of a run as it stands now: sums beside the last run, failures, figures, money.',
    ...OF_RUN,
    result: reportSchema,
    errors: ['not_found', 'plan_invalid'],
    handler: async ({ application, caller, params: { run_id: id } }) => {
      const run = await findRun(application, caller, id);
      return recordOf(await reportView(application.world, run.runId));
    },
  }),
] as const;

/** What is handed out belongs to who asked: lists are copied, because a schema hands out its own. */
function recordOf(view: ReportView): z.output<typeof reportSchema> {
  return {
    written_at: isoInstant(view.writtenAt),
    description: view.description,
    last_run_id: view.lastRunId,
    verdicts: [...view.verdicts],
    tiles: view.tiles.map(({ hasFootnote = false, ...tile }) => ({ ...tile, has_footnote: hasFootnote })),
    failure_count: view.failureCount,
    failures: view.failures.map(({ conversationId, lines, ...rest }) => ({
      ...rest,
      lines: [...lines],
      conversation_id: conversationId,
    })),
    figures: view.figures.map(({ legend, shapes, ...rest }) => ({
      ...rest,
      legend: [...legend],
      shapes: [...shapes],
    })),
    sections: view.sections.map(sectionOf),
    footnote: sectionOf(view.footnote),
  };
}

function sectionOf({ title, blocks }: ShownSection): z.output<typeof sectionSchema> {
  return { title, blocks: blocks.map((block) => structuredClone(block)) as z.output<typeof blockSchema>[] };
}
