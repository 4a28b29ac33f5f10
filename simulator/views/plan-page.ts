/**
 * An answer of the simulator as one HTML file that needs nothing else: no script, no font, no request.
 * Owns the order of the page and the bounds of its tables; its frame and style are those of all pages, and figures are drawn in files of their own.
 */
import { usdWords } from '../../report/report-words.ts';
import { left, right, type Column } from '../../report/document.ts';
import { escapeText, renderPage, tableMarkup } from '../../report/page/page.ts';
import type { PlanAnswer, SimulatedConversation } from '../simulate-plan.ts';
import { type TimeSpan, chart, CHART_LABEL_X, CHART_TOP, timeX, sinceText, coordinate } from './chart.ts';
import { capacityFigure, costFigure, STACK, statusFigure } from './curve-figures.ts';
import { conversationTimes, outcomesText } from './play-figures.ts';
import { spreadOf } from './spread.ts';

/** A longer table is for --json. */
const TABLE_ROWS_MAX = 1_000;

/** What the page shows. */
export interface PlanPage {
  /** Of the job or scenario. */
  readonly name: string;
  readonly answer: PlanAnswer;
  /** Epoch milliseconds of the beginning. */
  readonly startAt: number;
  readonly seed: number;
}

/** Without curves in the answer their figures are left out. */
export function planPage(page: PlanPage): string {
  const { name, answer, startAt } = page;
  const until = answer.makespanMs === null ? answer.endedAt : startAt + answer.makespanMs;
  const span: TimeSpan = { from: startAt, until };
  const { curves, conversations } = answer;
  return renderPage({
    title: `${name}: simulated`,
    style: SIMULATION_STYLE,
    script: null,
    body: [
      '<main>',
      `<h1>${escapeText(name)}: simulated</h1>`,
      ...summary(page),
      '<section>',
      '<h2>Timeline</h2>',
      legend(),
      ganttFigure(conversations, span),
      '</section>',
      ...(curves === null
        ? []
        : [
            '<section>',
            capacityFigure(curves, span),
            costFigure(curves, span),
            statusFigure(curves, span),
            '</section>',
          ]),
      ...limitsMet(conversations),
      ...conversationTable(conversations, startAt),
      '</main>',
    ],
  });
}

function summary({ answer, startAt, seed }: PlanPage): string[] {
  const { conversations, phase, reason, makespanMs, curves } = answer;
  const times = spreadOf(conversationTimes(conversations));
  const allowed = curves === null ? '' : ` of ${curves.slotsMax} allowed`;
  const peakAt = sinceText(answer.sandboxesPeakAt - startAt);
  const entries: readonly (readonly [string, string])[] = [
    ['Conversations', `${conversations.length}: ${outcomesText(conversations)}`],
    ['Run', reason === null ? phase : `${phase}, ${reason}`],
    ['Makespan', makespanMs === null ? 'not all have ended' : sinceText(makespanMs)],
    [
      'Conversation times',
      times === null
        ? 'none has ended'
        : `p50 ${sinceText(times.p50)}, p95 ${sinceText(times.p95)}, max ${sinceText(times.max)}`,
    ],
    ['Cost', usdWords(answer.costNanoUsd)],
    ['Sandboxes at once', `${answer.sandboxesPeak} at most${allowed}, first after ${peakAt}`],
    ['Seed', String(seed)],
    ['Trace', `${answer.steps} steps, hash ${answer.hash}`],
  ];
  return [
    '<dl class="sums">',
    ...entries.map(
      ([term, text]) =>
        `<div class="sum card"><dt>${escapeText(term)}</dt><dd>${escapeText(text)}</dd></div>`,
    ),
    '</dl>',
  ];
}

function legend(): string {
  const entries = [...STACK].reverse().map((as) => `<li><span class="${as}"></span>${as}</li>`);
  return `<ul class="legend">${entries.join('')}</ul>`;
}

function limitsMet(conversations: readonly SimulatedConversation[]): string[] {
  const meeting = conversations.filter(({ met }) => met.length > 0);
  if (meeting.length === 0)
    return [
      '<section>',
      '<h2>Limits met</h2>',
      '<p>No conversation met a pause, the cap, the capacity or the budget.</p>',
      '</section>',
    ];
  return [
    '<section>',
    `<h2>Limits met by ${meeting.length}</h2>`,
    ...boundedTable(
      [left('conversation'), left('met')],
      meeting.map(({ key, met }) => [key, met.join(', ')]),
    ),
    '</section>',
  ];
}

function conversationTable(conversations: readonly SimulatedConversation[], startAt: number): string[] {
  const rows = conversations.map(({ key, outcome, detail, attempts, costNanoUsd, stretches, met }) => {
    const begun = stretches.find(({ as }) => as !== 'queued');
    const ended = outcome === null ? null : (stretches.at(-1)?.from ?? null);
    return [
      key,
      outcome ?? 'not ended',
      detail ?? '',
      String(attempts),
      begun === undefined ? '-' : sinceText(begun.from - startAt),
      ended === null ? '-' : sinceText(ended - startAt),
      usdWords(costNanoUsd),
      met.join(', '),
    ];
  });
  return [
    '<section>',
    '<h2>Conversations</h2>',
    '<details>',
    '<summary>The timeline as a table</summary>',
    ...boundedTable(
      [
        left('conversation'),
        left('outcome'),
        left('detail'),
        right('attempts'),
        right('began after'),
        right('ended after'),
        right('cost'),
        left('met'),
      ],
      rows,
    ),
    '</details>',
    '</section>',
  ];
}

function boundedTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const more = rows.length - TABLE_ROWS_MAX;
  return [
    tableMarkup(columns, rows.slice(0, TABLE_ROWS_MAX)),
    ...(more > 0 ? [`<p>and ${more} more; see --json</p>`] : []),
  ];
}

/** More bars make a page of megabytes that no reader scrolls to the end of. */
export const GANTT_ROWS_MAX = 500;
/** An item that was tried a thousand times shows its beginning. */
const STRETCHES_MAX = 200;
const ROW_HEIGHT = 18;
const BAR_HEIGHT = 12;
/** Nothing that happened is so short that it cannot be seen. */
const BAR_WIDTH_MIN = 0.75;
/** A longer key is cut; its whole is in the title. */
const KEY_LENGTH_MAX = 26;

/** A bar per conversation as a figure: queued, starting, working, paused. */
function ganttFigure(conversations: readonly SimulatedConversation[], span: TimeSpan): string {
  const shown = conversations.slice(0, GANTT_ROWS_MAX);
  const more = conversations.length - shown.length;
  const note = more > 0 ? `, the first ${GANTT_ROWS_MAX} of ${conversations.length}` : '';
  return chart(
    {
      id: 'gantt',
      title: `Conversations over time${note}`,
      description: 'One bar per conversation; the table of conversations below tells the same in words.',
      span,
      height: Math.max(1, shown.length) * ROW_HEIGHT,
      ticks: [],
    },
    shown.map((one, index) => row(one, index, span)),
  );
}

function row({ key, stretches }: SimulatedConversation, index: number, span: TimeSpan): string {
  const top = CHART_TOP + index * ROW_HEIGHT;
  const cut = key.length > KEY_LENGTH_MAX ? `${key.slice(0, KEY_LENGTH_MAX - 1)}\u2026` : key;
  const bars = stretches.slice(0, STRETCHES_MAX).flatMap(({ from, as }, at) => {
    const until = stretches[at + 1]?.from ?? span.until;
    if (as === 'ended' || from >= span.until) return [];
    const x = timeX(span, from);
    const width = Math.max(BAR_WIDTH_MIN, timeX(span, until) - x);
    const title = `${key}: ${as} from ${sinceText(from - span.from)} to ${sinceText(until - span.from)}`;
    return [
      `<rect class="${as}" x="${coordinate(x)}" y="${top + 3}" width="${coordinate(width)}" height="${BAR_HEIGHT}"><title>${escapeText(title)}</title></rect>`,
    ];
  });
  return [
    `<text x="${CHART_LABEL_X}" y="${top + 13}" text-anchor="end">${escapeText(cut)}<title>${escapeText(key)}</title></text>`,
    ...bars,
  ].join('\n');
}

/**
 * What the page of a simulation has beside the style of all pages.
 * Owns which of the console's colours each activity and curve has; none is distinguished by colour alone.
 */

/** Names of tokens; tests search a picture for their colours. */
export const FIGURE_TOKENS = {
  queued: '--series-11',
  starting: '--series-2',
  working: '--good',
  paused: '--series-3',
  ended: '--line',
  slots: '--series-0',
  cost: '--series-4',
  limit: '--series-7',
} as const;

const fills = Object.entries(FIGURE_TOKENS).map(
  ([name, token]) => `.${name}{fill:var(${token});background:var(${token})}`,
);

const SIMULATION_STYLE = `
${fills.join('\n')}
figure .scroll{max-height:32rem;overflow:auto}
.below{opacity:.25}
.slots.line{fill:none;stroke:var(${FIGURE_TOKENS.slots})}.cost.line{fill:none;stroke:var(${FIGURE_TOKENS.cost})}
.limit{stroke:var(${FIGURE_TOKENS.limit});stroke-width:2;stroke-dasharray:8 5}
.legend span{display:inline-block;width:14px;height:14px;margin-right:6px;border:1px solid var(--line);vertical-align:-2px}
.sums{grid-template-columns:repeat(auto-fit,minmax(min(100%,240px),1fr))}
.sum dt{color:var(--quiet);font-size:13px}
.sum dd{font-size:16px}
@media print{figure .scroll{max-height:none;overflow:visible}}
`;
