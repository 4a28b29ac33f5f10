/**
 * A section of a report: sentences, lists, tables and output, each as text.
 * Owns the elements; what is said is the server's.
 */
import type { ReactElement } from 'react';
import { Scroll } from '../components/scroll.tsx';
import { Table, type Column } from '../components/table.tsx';
import type { ReportBlock, ReportSection } from './report-types.ts';

export interface SectionProps {
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

function Figures({
  block: { columns, rows },
  label,
}: {
  readonly block: Extract<ReportBlock, { readonly kind: 'table' }>;
  readonly label: string;
}): ReactElement {
  const heads = columns.map(({ title, side }): Column =>
    side === 'right' ? { name: title, holds: 'figures' } : title,
  );
  return (
    <Scroll label={label}>
      <Table columns={heads}>
        {rows.map((cells, at) => (
          <tr key={at}>
            {cells.map((cell, place) => (
              <td key={place} className={columns[place]?.side === 'right' ? 'number' : 'wrap'}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </Scroll>
  );
}
