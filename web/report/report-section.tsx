/**
 * A section of a report: sentences, lists, tables and output, each as text.
 * Owns the elements; what is said is the server's.
 */
import type { ReactElement } from 'react';
import type { ResultOf } from '../../api/client/client.ts';
import { Sum } from '../components/parts.tsx';
import { Table, text } from '../components/table.tsx';
import { Link } from '../routing/link.tsx';

interface SectionProps {
  readonly section: ReportSection;
  /** Where a link to it leads. */
  readonly id?: string;
}

export function Section({ section: { title, blocks }, id }: SectionProps): ReactElement {
  return (
    <section className="stack" id={id} aria-label={title ?? undefined}>
      {title === null ? null : <h2>{title}</h2>}
      {blocks.map((block, at) => (
        <Block key={at} block={block} label={title ?? 'Table'} />
      ))}
    </section>
  );
}

function Block({ block, label }: { readonly block: ReportBlock; readonly label: string }): ReactElement {
  switch (block.kind) {
    case 'text':
      return <p className={block.tone === 'plain' ? 'wrap' : `wrap said-${block.tone}`}>{block.text}</p>;
    case 'list':
      return (
        <ul className="report-list">
          {block.entries.map((entry, at) => (
            <li key={at}>{entry}</li>
          ))}
        </ul>
      );
    case 'output':
      return <Output lines={block.lines} />;
    case 'table':
      return <Figures block={block} label={label} />;
  }
}

/** As a program printed it, without its colours. */
export function Output({ lines }: { readonly lines: readonly string[] }): ReactElement {
  return <pre className="report-output">{lines.join('\n')}</pre>;
}

interface FiguresProps {
  readonly block: Extract<ReportBlock, { readonly kind: 'table' }>;
  readonly label: string;
}

function Figures({ block: { columns, rows }, label }: FiguresProps): ReactElement {
  const heads = columns.map(({ title, side }, place) =>
    text(title, (cells: readonly string[]) => cells[place], side === 'right' ? 'number' : 'wrap'),
  );
  return <Table label={label} columns={heads} rows={rows} keyOf={(_, at) => at} />;
}

export type Report = ResultOf<'get_run_report'>;
export type ReportFigure = Report['figures'][number];
export type ReportShape = ReportFigure['shapes'][number];
/** What the API answers about a report, by the parts that are drawn. */
type ReportSection = Report['footnote'];
type ReportBlock = ReportSection['blocks'][number];

/** Where the exact amounts are. */
export const FOOTNOTE_ID = 'to-the-nano-dollar';

interface ReportTilesProps {
  readonly run: string;
  readonly report: Report;
}

export function ReportTiles({ run, report: { tiles, last_run_id: last } }: ReportTilesProps): ReactElement {
  return (
    <section aria-label="Sums" className="stack">
      <dl className="sums report-tiles">
        {tiles.map(({ name, value, note, tone, has_footnote: hasFootnote }) => (
          <Sum key={name} name={name}>
            {value}
            {hasFootnote ? (
              <a href={`#${FOOTNOTE_ID}`} aria-label="Footnote 1: to the nano-dollar">
                <sup>1</sup>
              </a>
            ) : null}
            <small className={`report-${tone}`}>{note}</small>
          </Sum>
        ))}
      </dl>
      {last === null ? (
        <p className="quiet">First run of this job: there is nothing to compare it with.</p>
      ) : (
        <p className="quiet">
          Compared with the last run, <Link to={{ page: 'comparison', id: run, before: last }}>{last}</Link>.
        </p>
      )}
    </section>
  );
}
