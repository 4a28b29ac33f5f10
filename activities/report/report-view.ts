/**
 * A report of a run as data for a page that draws it itself: the same sentences, figures and sums as `report.html`.
 * Owns the choice; the table of conversations is none of it, because a page asks for its rows as it shows them.
 */
import type { RunId } from '../../core/ids.ts';
import type { Block, Cell, Section } from '../../report/document.ts';
import { FAILURES_SHOWN_MAX, failuresOf, shownReason, type Failure } from '../../report/failure.ts';
import { figureDrawing, type FigureDrawing } from '../../report/figures/figure-drawing.ts';
import { reportFigures } from '../../report/figures/report-figures.ts';
import { oneLine, plainLine } from '../../report/plain-text.ts';
import { otherSections } from '../../report/report-document.ts';
import { reportTiles, type Tile } from '../../report/report-tiles.ts';
import { reportVerdicts, type Verdict } from '../../report/report-verdict.ts';
import { sumSection } from '../../report/sum-section.ts';
import { gatherReport } from './gather-report.ts';
import type { ReportWorld } from './report-world.ts';

/** How a report is to be drawn, beside its data. */
export interface ReportView {
  readonly description: string | null;
  /** Epoch milliseconds. */
  readonly writtenAt: number;
  /** What the tiles compare with; null for the first run of a job. */
  readonly lastRunId: RunId | null;
  readonly verdicts: readonly Verdict[];
  readonly tiles: readonly Tile[];
  /** All of them; the first ones are in `failures`. */
  readonly failureCount: number;
  readonly failures: readonly (Failure & { readonly conversationId: string | null })[];
  readonly figures: readonly FigureDrawing[];
  readonly sections: readonly ShownSection[];
  /** Every part of the money in nano-dollars, and that the parts are the total. */
  readonly footnote: ShownSection;
}

/** A section whose cells are plain text: what they link to in a file lies beside that file. */
export interface ShownSection {
  readonly title: string | null;
  readonly blocks: readonly ShownBlock[];
}

export type ShownBlock =
  | Exclude<Block, { readonly kind: 'table' }>
  | (Omit<Extract<Block, { readonly kind: 'table' }>, 'rows'> & {
      readonly rows: readonly (readonly string[])[];
    });

/** @throws ParleyError not_found, plan_invalid */
export async function reportView(world: ReportWorld, runId: RunId): Promise<ReportView> {
  const data = await gatherReport(world, runId, 'failed');
  const failures = failuresOf(data.items);
  const conversationOf = new Map(data.items.map(({ key, row }) => [key, row?.conversationId ?? null]));
  return {
    description: data.description,
    writtenAt: data.writtenAt,
    lastRunId: data.last?.runId ?? null,
    verdicts: reportVerdicts(data),
    tiles: reportTiles(data),
    failureCount: failures.length,
    failures: failures.slice(0, FAILURES_SHOWN_MAX).map(({ reason, lines, ...rest }) => ({
      ...rest,
      reason: reason === null ? null : shownReason(reason),
      lines: lines.map(plainLine),
      conversationId: conversationOf.get(rest.key) ?? null,
    })),
    figures: reportFigures(data).map(figureDrawing),
    sections: otherSections(data).map(shownSection),
    footnote: shownSection(sumSection(data)),
  };
}

function shownSection({ title, blocks }: Section): ShownSection {
  return { title, blocks: blocks.map(shownBlock) };
}

function shownBlock(block: Block): ShownBlock {
  switch (block.kind) {
    case 'text':
      return { ...block, text: oneLine(block.text) };
    case 'list':
      return { ...block, entries: block.entries.map(oneLine) };
    case 'output':
      return { ...block, lines: block.lines.map(plainLine) };
    case 'table':
      return { ...block, rows: block.rows.map((cells) => cells.map(shownCell)) };
  }
}

function shownCell(cell: Cell): string {
  return oneLine(typeof cell === 'string' ? cell : cell.map(({ text }) => text).join(', '));
}
